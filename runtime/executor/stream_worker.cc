// The thread of a stream and the loop that replays its program.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_worker.h"

#include <chrono>
#include <cstdint>
#include <system_error>
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

Device& DeviceOf(const EntryContext& context, StreamId stream) {
  const DeviceId device = context.entry->streams[stream.index].device;
  return *(*context.devices)[device.index];
}

}  // namespace

StreamWorker::StreamWorker(EntryState& state, StreamId stream)
    : state_(state),
      id_(stream),
      device_(DeviceOf(state.context, stream)),
      stream_(device_.NewStream()),
      kernels_(state, stream, device_),
      performer_(state, *stream_) {}

StreamWorker::~StreamWorker() {
  if (thread_.joinable()) thread_.join();
}

absl::Status StreamWorker::PrepareInline() {
  const int attached = stream_->Attach();
  absl::Status status = Prepare();
  stream_->Detach(attached);
  return status;
}

void StreamWorker::Start() {
  try {
    thread_ = std::thread([this] { PrepareAndLoop(); });
  } catch (const std::system_error& error) {
    prepare_status_ = absl::ResourceExhaustedError(absl::StrCat(
        "found no thread for stream ",
        state_.context.entry->streams[id_.index].name, " (", error.what(),
        "); expected one for each of the plan's ",
        state_.context.entry->streams.size(),
        "; raise the limit of threads, or plan for fewer devices"));
    prepared_.Raise(1);
  }
}

void StreamWorker::PrepareAndLoop() {
  const int attached = stream_->Attach();
  prepare_status_ = Prepare();
  const bool ready = prepare_status_.ok();
  prepared_.Raise(1);
  if (ready) Loop();
  stream_->Detach(attached);
}

absl::Status StreamWorker::WaitUntilPrepared() {
  prepared_.Wait(1, {});
  return prepare_status_;
}

absl::Status StreamWorker::Prepare() {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<BoundCommand> bound,
                           kernels_.BindAll());
  for (int slot = 0; slot < state_.context.entry->depth; ++slot) {
    PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<StreamProgram> program,
                             BuildStreamProgram(state_.context, id_, slot,
                                                stream_->native(), bound));
    times_.emplace_back(program->actions.size());
    programs_.push_back(std::move(program));
  }
  return absl::OkStatus();
}

void StreamWorker::Loop() {
  const WaitPolicy policy = {.stop = &state_.closing, .spins = state_.spins};
  const uint64_t depth = state_.steps.size();
  for (uint64_t number = 0; state_.submitted.Wait(number + 1, policy);
       ++number) {
    RunStep(state_.steps[number % depth]);
    finished_.Raise(number + 1);
  }
}

void StreamWorker::RunInline(Step& step) {
  const int attached = stream_->Attach();
  RunStep(step);
  stream_->Detach(attached);
  finished_.Raise(step.number + 1);
}

void StreamWorker::RunStep(Step& step) {
  StreamProgram& program = *programs_[step.number % programs_.size()];
  const bool observed = step.trace || step.chaos_seed.has_value() ||
                        step.deadline != SteadyTime::max() ||
                        state_.observer != nullptr || !program.declared.empty();
  if (observed) {
    Replay<true>(step, program);
    at_.store(CommandId(), std::memory_order_relaxed);
  } else {
    Replay<false>(step, program);
  }
  if (absl::Status status = stream_->Finish(); !status.ok()) {
    state_.Fail(status, {.entry = state_.context.entry->name});
  }
}

// The hot path: no allocation, no lock, no lookup.
template <bool kObserved>
void StreamWorker::Replay(Step& step, StreamProgram& program) {
  const std::atomic<bool>& stopped = state_.failure.stopped();
  const size_t size = program.actions.size();
  for (size_t i = 0; i < size; ++i) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const Action& action = program.actions[i];
    absl::Status status;
    if constexpr (kObserved) status = BeforeAction(step, program, i);
    if (status.ok()) status = performer_.Perform(step, program, action);
    if constexpr (kObserved) AfterAction(step, program, i);
    if (!status.ok()) return FailAt(action, status);
  }
}

absl::Status StreamWorker::BeforeAction(const Step& step,
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

void StreamWorker::AfterAction(const Step& step, const StreamProgram& program,
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

void StreamWorker::FailAt(const Action& action, const absl::Status& status) {
  const EntryContext& context = state_.context;
  const Command& command = (*context.commands)[action.command];
  state_.Fail(status, DescribeCommand(*context.plan, *context.entry, command,
                                      action.command));
}

void StreamWorker::AppendTrace(int slot,
                               IdVector<CommandId, MeasuredTime>& times) const {
  const std::vector<Action>& actions = programs_[slot]->actions;
  for (size_t i = 0; i < actions.size(); ++i) {
    times[actions[i].command] = times_[slot][i];
  }
}

}  // namespace partita
