// Merges the programs of streams, and the loop that replays them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/launcher.h"

#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {

Launcher::Launcher(EntryState& state, std::vector<StreamReplay*> streams)
    : state_(state), streams_(std::move(streams)) {}

Launcher::~Launcher() {
  if (thread_.joinable()) thread_.join();
}

absl::Status Launcher::PrepareInline() {
  absl::Status status = Prepare();
  Attach(nullptr);
  return status;
}

void Launcher::Start() {
  try {
    thread_ = std::thread([this] { PrepareAndLoop(); });
  } catch (const std::system_error& error) {
    prepare_status_ = absl::ResourceExhaustedError(absl::StrCat(
        "found no thread for stream ", streams_.front()->stream().name, " (",
        error.what(), "); expected one for each of the plan's ",
        state_.context.entry->streams.size(),
        "; raise the limit of threads, or plan for fewer devices"));
    prepared_.Raise(1);
  }
}

void Launcher::PrepareAndLoop() {
  prepare_status_ = Prepare();
  const bool ready = prepare_status_.ok();
  prepared_.Raise(1);
  if (ready) Loop();
  Attach(nullptr);
}

absl::Status Launcher::WaitUntilPrepared() {
  prepared_.Wait(1, {});
  return prepare_status_;
}

absl::Status Launcher::Prepare() {
  for (StreamReplay* stream : streams_) {
    Attach(stream);
    PARTITA_RETURN_IF_ERROR(stream->Prepare());
  }
  for (const Segment& action : ActionsInLaunchOrder()) Append(action);
  return absl::OkStatus();
}

std::vector<Launcher::Segment> Launcher::ActionsInLaunchOrder() const {
  std::vector<Segment> actions;
  for (StreamReplay* stream : streams_) {
    for (size_t i = 0; i < stream->actions().size(); ++i) {
      actions.push_back({stream, i, i + 1});
    }
  }
  absl::c_sort(actions, [](const Segment& a, const Segment& b) {
    return a.stream->actions()[a.begin].command <
           b.stream->actions()[b.begin].command;
  });
  return actions;
}

const Communication* Launcher::CollectiveAt(const Segment& segment) const {
  const Action& action = segment.stream->actions()[segment.begin];
  if (action.kind != Action::Kind::kCollective) return nullptr;
  return &state_.context.communications->of(action.command);
}

// The ranks of a collective are neighbours in launch order: the checker proves
// it.
void Launcher::Append(const Segment& action) {
  const Communication* const collective = CollectiveAt(action);
  if (!batches_.empty()) {
    Batch& last = batches_.back();
    const Communication* const before = CollectiveAt(last.back());
    if (before != nullptr && before == collective) {
      last.push_back(action);
      return;
    }
    if (before == nullptr && collective == nullptr &&
        last.back().stream == action.stream) {
      last.back().end = action.end;
      return;
    }
  }
  batches_.push_back({action});
}

void Launcher::Loop() {
  const WaitPolicy policy = {.stop = &state_.closing, .spins = state_.spins};
  const uint64_t depth = state_.steps.size();
  for (uint64_t number = 0; state_.submitted.Wait(number + 1, policy);
       ++number) {
    RunStep(state_.steps[number % depth]);
  }
}

void Launcher::RunInline(Step& step) {
  RunStep(step);
  Attach(nullptr);
}

void Launcher::RunStep(Step& step) {
  for (const Batch& batch : batches_) {
    if (batch.size() > 1) {
      RunTogether(step, batch);
      continue;
    }
    Attach(batch[0].stream);
    batch[0].stream->Run(step, batch[0].begin, batch[0].end);
  }
  for (StreamReplay* stream : streams_) {
    Attach(stream);
    stream->EndStep(step);
  }
}

void Launcher::RunTogether(Step& step, const Batch& ranks) {
  for (const CollectivePhase phase : kCollectivePhases) {
    for (const Segment& rank : ranks) {
      Attach(rank.stream);
      rank.stream->RunPhase(step, rank.begin, phase);
    }
  }
}

void Launcher::Attach(StreamReplay* stream) {
  if (attached_ == stream) return;
  if (attached_ != nullptr) attached_->Detach();
  attached_ = stream;
  if (stream != nullptr) stream->Attach();
}

std::vector<std::unique_ptr<Launcher>> NewLaunchers(
    EntryState& state,
    const std::vector<std::unique_ptr<StreamReplay>>& streams) {
  std::vector<std::unique_ptr<Launcher>> launchers;
  std::vector<StreamReplay*> behind_host;
  for (const auto& stream : streams) {
    if (stream->runs_behind_host()) {
      behind_host.push_back(stream.get());
    } else {
      launchers.push_back(std::make_unique<Launcher>(
          state, std::vector<StreamReplay*>{stream.get()}));
    }
  }
  if (!behind_host.empty()) {
    launchers.push_back(
        std::make_unique<Launcher>(state, std::move(behind_host)));
  }
  return launchers;
}

}  // namespace partita
