// Merges the programs of streams, and the loop that replays them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/launcher.h"

#include <chrono>
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
    Attach(&stream->device_stream());
    PARTITA_RETURN_IF_ERROR(stream->Prepare());
  }
  const std::vector<FedAction> actions = ActionsInLaunchOrder();
  batches_ = BatchesOf(actions);
  return PrepareGraphs(actions);
}

std::vector<FedAction> Launcher::ActionsInLaunchOrder() const {
  std::vector<FedAction> actions;
  for (StreamReplay* stream : streams_) {
    for (size_t i = 0; i < stream->actions().size(); ++i) {
      actions.push_back({stream, i});
    }
  }
  absl::c_sort(actions, [](const FedAction& a, const FedAction& b) {
    return a.action().command < b.action().command;
  });
  return actions;
}

const Communication* Launcher::CollectiveAt(const Segment& segment) const {
  const Action& action = segment.stream->actions()[segment.begin];
  if (action.kind != Action::Kind::kCollective) return nullptr;
  return &state_.context.communications->of(action.command);
}

std::vector<Launcher::Batch> Launcher::BatchesOf(
    absl::Span<const FedAction> actions) const {
  std::vector<Batch> batches;
  for (const FedAction& fed : actions) {
    Append({fed.stream, fed.index, fed.index + 1}, batches);
  }
  return batches;
}

// The ranks of a collective are neighbours in launch order: the checker proves
// it. In a section of a step, a stream's actions are neighbours in its program.
void Launcher::Append(const Segment& action,
                      std::vector<Batch>& batches) const {
  const Communication* const collective = CollectiveAt(action);
  if (!batches.empty()) {
    Batch& last = batches.back();
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
  batches.push_back({action});
}

namespace {

// Each once, in the order of their first actions.
std::vector<StreamReplay*> StreamsOf(absl::Span<const FedAction> actions) {
  std::vector<StreamReplay*> streams;
  for (const FedAction& fed : actions) {
    if (!absl::c_linear_search(streams, fed.stream)) {
      streams.push_back(fed.stream);
    }
  }
  return streams;
}

}  // namespace

absl::Status Launcher::PrepareGraphs(absl::Span<const FedAction> actions) {
  const StepDivision division = DivideStep(state_, actions);
  why_no_graphs_ = division.why_no_graphs;
  if (division.runs.empty()) return absl::OkStatus();
  Device& launches = streams_.front()->device();
  PARTITA_ASSIGN_OR_RETURN(graph_stream_, launches.NewStream());
  Attach(graph_stream_.get());
  const auto actions_of = [&](size_t run) {
    if (run >= division.runs.size()) return absl::Span<const FedAction>();
    const ActionRun& range = division.runs[run];
    return actions.subspan(range.begin, range.end - range.begin);
  };
  for (size_t r = 0; r < division.runs.size(); ++r) {
    const absl::Span<const FedAction> own = actions_of(r);
    Section& section = sections_.emplace_back();
    if (!division.runs[r].in_graph) {
      section.issued = BatchesOf(own);
      continue;
    }
    // Its neighbours are issued one by one.
    GraphRun::Neighbours neighbours;
    if (r > 0) neighbours.before = StreamsOf(actions_of(r - 1));
    neighbours.behind = StreamsOf(actions_of(r + 1));
    PARTITA_ASSIGN_OR_RETURN(
        section.graph, GraphRun::New(state_, launches, *graph_stream_,
                                     {own.begin(), own.end()}, neighbours));
  }
  return absl::OkStatus();
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

bool Launcher::UsesGraphs(const Step& step) const {
  return graph_stream_ != nullptr && !step.chaos_seed.has_value();
}

void Launcher::RunStep(Step& step) {
  if (UsesGraphs(step)) {
    RunSections(step);
  } else {
    RunBatches(step, batches_);
  }
  FinishStreams(step);
  for (StreamReplay* stream : streams_) stream->EndStep(step);
}

void Launcher::RunBatches(Step& step, const std::vector<Batch>& batches) {
  for (const Batch& batch : batches) {
    if (batch.size() > 1) {
      RunTogether(step, batch);
      continue;
    }
    Attach(&batch[0].stream->device_stream());
    batch[0].stream->Run(step, batch[0].begin, batch[0].end);
  }
}

// Nobody waits for the work of one rank before all ranks have theirs.
void Launcher::RunTogether(Step& step, const Batch& ranks) {
  for (const CollectivePhase phase : kCollectivePhases) {
    for (const Segment& rank : ranks) {
      Attach(&rank.stream->device_stream());
      rank.stream->RunPhase(step, rank.begin, phase);
    }
  }
  for (const Segment& rank : ranks) {
    Attach(&rank.stream->device_stream());
    rank.stream->WaitIfBlocking(rank.begin);
  }
}

void Launcher::RunSections(Step& step) {
  if (step.trace) {
    if (absl::Status status = PrepareTrace(); !status.ok()) FailGraphs(status);
  }
  for (Section& section : sections_) {
    if (section.graph != nullptr) {
      RunGraph(step, *section.graph);
    } else {
      RunBatches(step, section.issued);
    }
  }
}

// All at once: nothing is built between the commands that are measured.
absl::Status Launcher::PrepareTrace() {
  Attach(graph_stream_.get());
  for (Section& section : sections_) {
    if (section.graph == nullptr) continue;
    PARTITA_RETURN_IF_ERROR(section.graph->PrepareTrace());
  }
  return absl::OkStatus();
}

void Launcher::FailGraphs(const absl::Status& status, CommandId end) {
  const auto all = static_cast<int32_t>(state_.context.commands->size());
  state_.FailAtCall(status,
                    {.entry = state_.context.entry->name,
                     .device = streams_.front()->device().traits().name,
                     .stream = "graph"},
                    end.valid() ? end : CommandId(all));
}

void Launcher::Observe(const Step& step, const GraphRun& run,
                       void (CommandObserver::*see)(uint64_t, CommandId)) {
  if (state_.observer == nullptr) return;
  for (const FedAction& fed : run.actions()) {
    (state_.observer->*see)(step.number, fed.action().command);
  }
}

void Launcher::RunGraph(Step& step, GraphRun& run) {
  if (state_.failure.stopped()) return;
  const FedAction& first = run.actions().front();
  if (step.deadline != SteadyTime::max() &&
      std::chrono::steady_clock::now() >= step.deadline) {
    return first.stream->FailAt(first.index, PastDeadline());
  }
  Observe(step, run, &CommandObserver::Before);
  const absl::Status status = LaunchGraph(step, run);
  Observe(step, run, &CommandObserver::After);
  if (status.ok()) return;
  const CommandId last = run.actions().back().action().command;
  FailGraphs(status, CommandId(last.index + 1));
}

// No wait is long: what it waits for has been recorded.
absl::Status Launcher::LaunchGraph(const Step& step, GraphRun& run) {
  for (const GraphRun::Join& join : run.before()) {
    DeviceStream& stream = join.stream->device_stream();
    Attach(&stream);
    PARTITA_RETURN_IF_ERROR(stream.Record(*join.event, step.number));
  }
  Attach(graph_stream_.get());
  for (const GraphRun::Join& join : run.before()) {
    PARTITA_RETURN_IF_ERROR(
        graph_stream_->Wait(*join.event, step.number, {}).status());
  }
  PARTITA_RETURN_IF_ERROR(run.Launch(step));
  if (run.behind().empty()) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(graph_stream_->Record(run.end(), step.number));
  for (StreamReplay* next : run.behind()) {
    DeviceStream& stream = next->device_stream();
    Attach(&stream);
    PARTITA_RETURN_IF_ERROR(stream.Wait(run.end(), step.number, {}).status());
  }
  return absl::OkStatus();
}

namespace {

// Of those before `end`, if it is valid. None if there are none that do work.
std::optional<SuspectedCommands> SuspectsOf(const StreamReplay& stream,
                                            CommandId end) {
  std::optional<size_t> first;
  size_t last = 0;
  for (size_t i = 0; i < stream.actions().size(); ++i) {
    const Action& action = stream.actions()[i];
    if (!DoesWork(action) || (end.valid() && action.command >= end)) continue;
    if (!first.has_value()) first = i;
    last = i;
  }
  if (!first.has_value()) return std::nullopt;
  return SuspectedCommands{stream.Describe(*first), stream.Describe(last)};
}

}  // namespace

// An error that ends the use of a GPU is returned for all streams there, those
// of other devices that share it too: nothing says whose command made it.
// Graphs have no nodes that report progress: they would cost time in every
// step, and after such an error the driver promises nothing of what the GPU
// wrote.
void Launcher::FailStreams(const Step& step, const absl::Status& status,
                           absl::Span<StreamReplay* const> failed) {
  const StreamReplay& first = *failed.front();
  FailedCommand where = {.entry = state_.context.entry->name,
                         .device = first.device().traits().name};
  if (failed.size() == 1) {
    const int32_t device = first.stream().device.index;
    where.device = state_.context.plan->devices[device].traits.name;
    where.stream = first.stream().name;
  }
  if (!first.runs_behind_host() || first.IsBlocking()) {
    return state_.Fail(status, std::move(where));
  }
  // A call may have had the error before.
  const CommandId end = state_.failure.unnamed_end();
  std::vector<SuspectedCommands> suspects;
  for (const StreamReplay* stream : failed) {
    if (auto of_stream = SuspectsOf(*stream, end)) {
      suspects.push_back(*std::move(of_stream));
    }
  }
  const absl::Status named = WithSuspects(status, step.number, suspects);
  if (end.valid()) return state_.failure.Name(named, std::move(where));
  state_.Fail(named, std::move(where));
}

void Launcher::FinishStreams(const Step& step) {
  absl::Status graphs;
  if (UsesGraphs(step)) graphs = FinishGraphs();
  absl::Status status;
  std::vector<StreamReplay*> failed;
  for (StreamReplay* stream : streams_) {
    Attach(&stream->device_stream());
    const absl::Status finished = stream->Finish();
    if (finished.ok()) continue;
    status.Update(finished);
    failed.push_back(stream);
  }
  // An error of a graph is found by the streams of its device, which name it.
  if (!failed.empty()) FailStreams(step, status, failed);
  if (!graphs.ok()) FailGraphs(graphs);
}

absl::Status Launcher::FinishGraphs() {
  Attach(graph_stream_.get());
  absl::Status status = graph_stream_->Finish();
  for (Section& section : sections_) {
    if (section.graph != nullptr) status.Update(section.graph->EndStep());
  }
  return status;
}

void Launcher::Attach(DeviceStream* stream) {
  if (attached_ == stream) return;
  if (attached_ != nullptr) attached_->Detach(before_attached_);
  attached_ = stream;
  if (stream != nullptr) before_attached_ = stream->Attach();
}

std::optional<StepLaunches> Launcher::Launches() const {
  if (!streams_.front()->runs_behind_host()) return std::nullopt;
  StepLaunches launches;
  launches.why_no_graphs = why_no_graphs_;
  for (const FedAction& fed : ActionsInLaunchOrder()) {
    launches.issued += DoesWork(fed.action()) ? 1 : 0;
  }
  for (const GraphRun* run : graphs()) {
    int work = 0;
    for (const FedAction& fed : run->actions()) {
      work += DoesWork(fed.action()) ? 1 : 0;
    }
    launches.graphs += work > 0 ? 1 : 0;
    launches.in_graphs += work;
    launches.issued -= work;
  }
  return launches;
}

std::vector<const GraphRun*> Launcher::graphs() const {
  std::vector<const GraphRun*> graphs;
  for (const Section& section : sections_) {
    if (section.graph != nullptr) graphs.push_back(section.graph.get());
  }
  return graphs;
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
