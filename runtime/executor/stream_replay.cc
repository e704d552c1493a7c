// Replays the program of a stream, with or without observation.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_replay.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// The finaliser of SplitMix64 (Steele et al. 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The delay before command `command` of step `step`: often zero, mostly some
// hundred microseconds, sometimes a few milliseconds.
std::chrono::nanoseconds ChaosDelay(uint64_t seed, uint64_t step,
                                    CommandId command) {
  const uint64_t bits =
      Mix(Mix(Mix(seed) ^ step) ^ static_cast<uint64_t>(command.index));
  const uint64_t kind = bits % 32;
  const uint64_t amount = bits >> 8;
  if (kind < 12) return std::chrono::nanoseconds(0);
  if (kind == 31) return std::chrono::microseconds(1000 + amount % 3000);
  return std::chrono::microseconds(amount % 400);
}

using Clock = std::chrono::steady_clock;

}  // namespace

absl::StatusOr<std::unique_ptr<StreamReplay>> StreamReplay::New(
    EntryState& state, StreamId id) {
  Device& device = *(*state.context.stream_devices)[id];
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<DeviceStream> stream,
                           device.NewStream());
  return std::unique_ptr<StreamReplay>(
      new StreamReplay(state, id, device, std::move(stream)));
}

StreamReplay::StreamReplay(EntryState& state, StreamId id, Device& device,
                           std::unique_ptr<DeviceStream> stream)
    : state_(state),
      id_(id),
      device_(device),
      stream_(std::move(stream)),
      kernels_(state, id, device_),
      performer_(state, *stream_) {}

absl::Status StreamReplay::Prepare() {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<BoundCommand> bound,
                           kernels_.BindAll());
  const int depth = state_.context.entry->depth;
  const int64_t staged = device_.properties().host_accesses_arenas
                             ? 0
                             : StagingBytes(state_.context, id_);
  if (staged > 0) {
    PARTITA_ASSIGN_OR_RETURN(staging_, device_.NewStaging(depth * staged));
  }
  for (int slot = 0; slot < depth; ++slot) {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<StreamProgram> program,
        BuildStreamProgram(
            state_.context,
            {.stream = id_,
             .slot = slot,
             .native_stream = stream_->native(),
             .staging =
                 staged > 0 ? staging_->base() + slot * staged : nullptr},
            bound));
    times_.emplace_back(program->actions.size());
    programs_.push_back(std::move(program));
  }
  return absl::OkStatus();
}

const Stream& StreamReplay::stream() const {
  return state_.context.entry->streams[id_.index];
}

bool StreamReplay::IsObserved(const Step& step,
                              const StreamProgram& program) const {
  return step.trace || step.chaos_seed.has_value() ||
         step.deadline != SteadyTime::max() || state_.observer != nullptr ||
         !program.declared.empty() || IsBlocking();
}

bool StreamReplay::IsBlocking() const {
  return state_.launch_blocking && runs_behind_host();
}

void StreamReplay::Run(Step& step, size_t begin, size_t end) {
  StreamProgram& program = ProgramOf(step);
  if (IsObserved(step, program)) {
    Replay<true>(step, program, begin, end);
  } else {
    Replay<false>(step, program, begin, end);
  }
}

// The hot path: no allocation, no lock, no lookup.
template <bool kObserved>
void StreamReplay::Replay(Step& step, StreamProgram& program, size_t begin,
                          size_t end) {
  const std::atomic<bool>& stopped = state_.failure.stopped();
  for (size_t i = begin; i < end; ++i) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const Action& action = program.actions[i];
    absl::Status status;
    if constexpr (kObserved) status = BeforeAction(step, program, i);
    if (status.ok()) status = performer_.Perform(step, program, action);
    if constexpr (kObserved) AfterAction(step, program, i);
    if (!status.ok()) return FailAt(i, status);
    if constexpr (kObserved) WaitIfBlocking(i);
  }
}

void StreamReplay::WaitIfBlocking(size_t index) {
  if (!IsBlocking() || state_.failure.stopped()) return;
  if (absl::Status status = stream_->Finish(); !status.ok()) {
    FailAt(index, status);
  }
}

void StreamReplay::RunPhase(Step& step, size_t index, CollectivePhase phase) {
  const std::atomic<bool>& stopped = state_.failure.stopped();
  StreamProgram& program = ProgramOf(step);
  const bool observed = IsObserved(step, program);
  absl::Status status;
  if (phase == CollectivePhase::kStart) {
    in_collective_ = !stopped;
    if (in_collective_ && observed) status = BeforeAction(step, program, index);
  }
  if (!in_collective_) return;
  const Action& action = program.actions[index];
  if (status.ok() && !stopped) {
    status = performer_.PerformPhase(step, program, action, phase);
  }
  if (observed && phase == CollectivePhase::kFinish) {
    AfterAction(step, program, index);
  }
  if (!status.ok()) FailAt(index, status);
}

absl::Status StreamReplay::Finish() {
  at_.store(CommandId(), std::memory_order_relaxed);
  return stream_->Finish();
}

void StreamReplay::StageFeed(const Step& step, size_t index) {
  const StreamProgram& program = ProgramOf(step);
  performer_.StageFeed(step, program, program.actions[index]);
}

void StreamReplay::EndStep(Step& step) {
  if (!state_.failure.stopped()) {
    performer_.DeliverFetches(step, ProgramOf(step));
  }
  finished_.Raise(step.number + 1);
}

absl::Status StreamReplay::BeforeAction(const Step& step,
                                        const StreamProgram& program,
                                        size_t index) {
  const Action& action = program.actions[index];
  at_.store(action.command, std::memory_order_relaxed);
  if (!program.declared.empty()) {
    for (const auto& [guard, blocks] : program.declared[index]) {
      guard->Open({blocks});
    }
  }
  if (step.chaos_seed.has_value()) {
    const auto delay =
        ChaosDelay(*step.chaos_seed, step.number, action.command);
    if (delay.count() > 0) PARTITA_RETURN_IF_ERROR(stream_->Sleep(delay));
  }
  if (state_.observer != nullptr) {
    state_.observer->Before(step.number, action.command);
  }
  if (step.deadline != SteadyTime::max() && Clock::now() >= step.deadline) {
    return PastDeadline();
  }
  if (step.trace) {
    stream_->Stamp(times_[step.number % times_.size()][index].start);
  }
  return absl::OkStatus();
}

void StreamReplay::AfterAction(const Step& step, const StreamProgram& program,
                               size_t index) {
  if (step.trace) {
    stream_->Stamp(times_[step.number % times_.size()][index].end);
  }
  if (state_.observer != nullptr) {
    state_.observer->After(step.number, program.actions[index].command);
  }
  if (program.declared.empty()) return;
  for (const auto& [guard, blocks] : program.declared[index]) {
    guard->Close({blocks});
  }
}

void StreamReplay::FailAt(size_t index, const absl::Status& status) {
  if (!runs_behind_host() || IsBlocking()) {
    return state_.Fail(status, Describe(index));
  }
  const CommandId command = actions()[index].command;
  state_.FailAtCall(status, Describe(index), CommandId(command.index + 1));
}

FailedCommand StreamReplay::Describe(size_t index) const {
  const EntryContext& context = state_.context;
  const CommandId id = actions()[index].command;
  return DescribeCommand(*context.plan, *context.entry, (*context.commands)[id],
                         id);
}

void StreamReplay::AppendTrace(int slot,
                               IdVector<CommandId, MeasuredTime>& times) const {
  const std::vector<Action>& actions = programs_[slot]->actions;
  for (size_t i = 0; i < actions.size(); ++i) {
    times[actions[i].command] = times_[slot][i];
  }
}

}  // namespace partita
