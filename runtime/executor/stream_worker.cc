// The replay loop.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_worker.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"
#include "runtime/executor/chaos.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

// A sleep that ended late by less than this is made up for by the next.
constexpr auto kMaxOversleep = std::chrono::microseconds(300);

Device& DeviceOf(const EntryContext& context, StreamId stream) {
  const DeviceId device = context.entry->streams[stream.index].device;
  return *(*context.devices)[device.index];
}

// The image for a device: its target ends with the instruction set, as in
// "x86-64-avx512" for "avx512".
const KernelImage* FindImage(const Plan& plan, const DeviceTraits& device) {
  for (const KernelImage& image : plan.images) {
    if (image.target == device.isa ||
        absl::EndsWith(image.target, absl::StrCat("-", device.isa))) {
      return &image;
    }
  }
  return nullptr;
}

absl::Status PastDeadline() {
  return absl::DeadlineExceededError(
      "found the deadline of the run passed; expected the step to end before");
}

}  // namespace

void EntryState::Fail(const absl::Status& status, FailedCommand where) {
  if (!failure.Set(status, std::move(where))) return;
  for (const auto& event : *context.events) event->steps().Interrupt();
  context.meetings->Interrupt();
}

StreamWorker::StreamWorker(EntryState& state, StreamId stream)
    : state_(state),
      id_(stream),
      device_(DeviceOf(state.context, stream)),
      stream_(device_.NewStream()) {}

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
  thread_ = std::thread([this] {
    const int attached = stream_->Attach();
    prepare_status_ = Prepare();
    const bool ready = prepare_status_.ok();
    prepared_.Raise(1);
    if (ready) Loop();
    stream_->Detach(attached);
  });
}

absl::Status StreamWorker::WaitUntilPrepared() {
  prepared_.Wait(1, {});
  return prepare_status_;
}

absl::Status StreamWorker::Prepare() {
  PARTITA_RETURN_IF_ERROR(BindKernels());
  for (int slot = 0; slot < state_.context.entry->depth; ++slot) {
    PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<StreamProgram> program,
                             BuildStreamProgram(state_.context, id_, slot,
                                                stream_->native(), bound_));
    times_.emplace_back(program->actions.size());
    programs_.push_back(std::move(program));
  }
  bound_.clear();
  bound_.shrink_to_fit();
  return absl::OkStatus();
}

absl::Status StreamWorker::BindKernels() {
  const EntryContext& context = state_.context;
  const std::vector<Command>& commands = *context.commands;
  bound_.resize(commands.size());
  if (device_.is_timed()) return absl::OkStatus();
  // Invocations of one command share a kernel: launches of a stream never
  // overlap, and kernels keep no state.
  absl::flat_hash_map<std::pair<int, int>, BoundCommand> by_instance;
  for (size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    if (command.stream != id_ || command.kind != Command::Kind::kKernel) {
      continue;
    }
    const std::pair<int, int> instance = {command.instance.node.index,
                                          command.instance.member};
    auto found = by_instance.find(instance);
    if (found == by_instance.end()) {
      absl::StatusOr<BoundCommand> bound = Bind(command);
      if (!bound.ok()) {
        return AtCommand(DescribeCommand(*context.plan, *context.entry, command,
                                         static_cast<int>(i)),
                         bound.status());
      }
      found = by_instance.emplace(instance, *bound).first;
    }
    bound_[i] = found->second;
    if (bound_[i].replaced.has_value()) {
      AddReplacedKernels({&*bound_[i].replaced, 1}, replaced_);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OpView> StreamWorker::NodeOf(const Command& command) {
  const OpView node = state_.context.entry->graph->view(command.instance.node);
  if (!IsCut(node)) return node;
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<Graph> piece,
                           CutNode(node, command.instance.member));
  pieces_.push_back(std::move(piece));
  return pieces_.back()->ops().front();
}

absl::StatusOr<BoundCommand> StreamWorker::Bind(const Command& command) {
  PARTITA_ASSIGN_OR_RETURN(const OpView node, NodeOf(command));
  if (!node.node().kernel.has_value()) {
    return absl::InvalidArgumentError(
        "found no kernel on the node; expected the plan to bind one");
  }
  BindRequest request = {.node = node,
                         .binding = &*node.node().kernel,
                         .device = &device_.traits()};
  if (state_.trust_code) {
    request.image = FindImage(*state_.context.plan, device_.traits());
  }
  PARTITA_ASSIGN_OR_RETURN(
      HostKernel kernel,
      BindKernel(request, *state_.libraries, device_.is_virtual()));
  kernels_.push_back(std::move(kernel.kernel));
  BoundCommand bound = {kernels_.back().get(), nullptr,
                        std::move(kernel.replaced)};
  if (kernel.outside_scratch > 0) {
    PARTITA_ASSIGN_OR_RETURN(bound.outside_scratch,
                             OutsideScratch(kernel.outside_scratch));
  }
  return bound;
}

// Launches of a stream follow one another, so they share the largest scratch
// so far.
absl::StatusOr<void*> StreamWorker::OutsideScratch(int64_t bytes) {
  if (scratch_.empty() || scratch_.back()->size() < bytes) {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<HostArena> arena,
        HostArena::New(device_.traits().name, bytes, 4096, /*guarded=*/false));
    scratch_.push_back(std::move(arena));
  }
  return scratch_.back()->base();
}

void StreamWorker::Loop() {
  if (device_.is_timed()) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
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
                        !program.declared.empty();
  if (device_.is_timed()) slept_until_ = Clock::now();
  if (observed) {
    Replay<true>(step, program);
    at_.store(-1, std::memory_order_relaxed);
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
    if (status.ok()) status = Perform(step, program, action);
    if constexpr (kObserved) AfterAction(step, program, i);
    if (!status.ok()) return FailAt(action, status);
  }
}

absl::Status StreamWorker::Perform(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  switch (action.kind) {
    case Action::Kind::kKernel:
      return action.kernel->Launch(action.args);
    case Action::Kind::kCopy:
      return Move(program, action);
    case Action::Kind::kFeed: {
      const Transfer& transfer = program.transfers[action.transfer];
      Blocks from = transfer.from;
      // Only read, though blocks do not say so.
      from.base =
          static_cast<std::byte*>(const_cast<void*>(step.inputs[action.port])) +
          action.port_offset;
      return stream_->Copy(transfer.to, from);
    }
    case Action::Kind::kFetch: {
      const Transfer& transfer = program.transfers[action.transfer];
      Blocks to = transfer.to;
      to.base = static_cast<std::byte*>(step.outputs[action.port]) +
                action.port_offset;
      return stream_->Copy(to, transfer.from);
    }
    case Action::Kind::kRecord:
      return stream_->Record(*action.event, step.number);
    case Action::Kind::kWait:
      return PerformWait(step, action);
    case Action::Kind::kCollective:
      return PerformCollective(step, action,
                               program.exchanges[action.exchange]);
    case Action::Kind::kSend:
      return PerformSend(step, program, action);
    case Action::Kind::kRecv:
      return PerformRecv(step, program, action);
    case Action::Kind::kSleep:
      Sleep(action.sleep);
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

WaitPolicy StreamWorker::PolicyOf(const Step& step) const {
  return {.stop = &state_.failure.stopped(),
          .spins = state_.spins,
          .deadline = step.deadline};
}

// A wait that another's failure ended is no failure of its own.
absl::Status StreamWorker::EndOfWait() {
  return state_.failure.stopped() ? absl::OkStatus() : PastDeadline();
}

absl::Status StreamWorker::PerformWait(const Step& step, const Action& action) {
  if (!stream_->Wait(*action.event, step.number, PolicyOf(step))) {
    return EndOfWait();
  }
  if (device_.is_timed()) slept_until_ = std::max(slept_until_, Clock::now());
  return absl::OkStatus();
}

absl::Status StreamWorker::PerformCollective(const Step& step,
                                             const Action& action,
                                             const Exchange& exchange) {
  const WaitPolicy policy = PolicyOf(step);
  const uint64_t first =
      step.number * exchange.points_per_step + exchange.first_point;
  bool met = true;
  const auto meet = [&](int point) {
    met = exchange.place->Meet(exchange.seat, first + point, policy);
    return met;
  };
  if (!device_.is_timed()) {
    PARTITA_RETURN_IF_ERROR(RunCollective(exchange.part, *stream_, meet));
    return met ? absl::OkStatus() : EndOfWait();
  }
  if (!meet(0)) return EndOfWait();
  slept_until_ = std::max(slept_until_, Clock::now());
  Sleep(action.sleep);
  return absl::OkStatus();
}

// With room in the channel a message is left there. Without, its receiver takes
// it from the sender, who waits until it has.
absl::Status StreamWorker::PerformSend(const Step& step,
                                       const StreamProgram& program,
                                       const Action& action) {
  const Exchange& exchange = program.exchanges[action.exchange];
  const uint64_t point =
      step.number * exchange.points_per_step + exchange.first_point;
  if (device_.is_timed()) Sleep(action.sleep);
  if (exchange.capacity == 0) {
    exchange.place->Pass(0, point);
    return exchange.place->Await(1, point, PolicyOf(step)) ? absl::OkStatus()
                                                           : EndOfWait();
  }
  // A step has slots of its own, so only its own messages can fill them.
  if (exchange.number >= exchange.capacity &&
      !exchange.place->Await(1, point - exchange.capacity, PolicyOf(step))) {
    return EndOfWait();
  }
  PARTITA_RETURN_IF_ERROR(Move(program, action));
  exchange.place->Pass(0, point);
  return absl::OkStatus();
}

absl::Status StreamWorker::PerformRecv(const Step& step,
                                       const StreamProgram& program,
                                       const Action& action) {
  const Exchange& exchange = program.exchanges[action.exchange];
  const uint64_t point =
      step.number * exchange.points_per_step + exchange.first_point;
  if (!exchange.place->Await(0, point, PolicyOf(step))) return EndOfWait();
  if (device_.is_timed()) {
    slept_until_ = std::max(slept_until_, Clock::now());
  }
  PARTITA_RETURN_IF_ERROR(Move(program, action));
  exchange.place->Pass(1, point);
  return absl::OkStatus();
}

// Timed devices move nothing.
absl::Status StreamWorker::Move(const StreamProgram& program,
                                const Action& action) {
  if (action.transfer < 0) return absl::OkStatus();
  const Transfer& transfer = program.transfers[action.transfer];
  return stream_->Copy(transfer.to, transfer.from);
}

void StreamWorker::Sleep(std::chrono::nanoseconds duration) {
  const SteadyTime now = Clock::now();
  if (now - slept_until_ > kMaxOversleep) slept_until_ = now;
  slept_until_ += duration;
  if (slept_until_ > now) std::this_thread::sleep_until(slept_until_);
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
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
  }
  if (step.deadline != SteadyTime::max() && Clock::now() >= step.deadline) {
    return PastDeadline();
  }
  if (step.trace) {
    times_[step.number % times_.size()][index].start = Clock::now();
  }
  return absl::OkStatus();
}

void StreamWorker::AfterAction(const Step& step, const StreamProgram& program,
                               size_t index) {
  if (step.trace) {
    times_[step.number % times_.size()][index].end = Clock::now();
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
                               std::vector<MeasuredTime>& by_command) const {
  const std::vector<Action>& actions = programs_[slot]->actions;
  for (size_t i = 0; i < actions.size(); ++i) {
    by_command[actions[i].command] = times_[slot][i];
  }
}

}  // namespace partita
