// Dispatches on the kind of an action.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/action_performer.h"

#include "graph/status_macros.h"
#include "runtime/device/host_stream.h"
#include "runtime/executor/communicator.h"

namespace partita {

absl::Status PastDeadline() {
  return absl::DeadlineExceededError(
      "found the deadline of the run passed; expected the step to end before");
}

absl::Status ActionPerformer::Perform(const Step& step,
                                      const StreamProgram& program,
                                      const Action& action) {
  switch (action.kind) {
    case Action::Kind::kKernel:
      return action.kernel->Launch(action.args);
    case Action::Kind::kCopy:
      return Move(program, action);
    case Action::Kind::kFeed:
      return Feed(step, program, action);
    case Action::Kind::kFetch:
      return Fetch(step, program, action);
    case Action::Kind::kRecord:
      return stream_.Record(*action.event, step.number);
    case Action::Kind::kWait:
      return Wait(step, action);
    case Action::Kind::kCollective:
      return Collective(step, program, action);
    case Action::Kind::kSend:
      return Send(step, program, action);
    case Action::Kind::kRecv:
      return Recv(step, program, action);
    case Action::Kind::kSleep:
      return stream_.Sleep(action.sleep);
  }
  return absl::OkStatus();
}

namespace {

Blocks CallersInput(const Step& step, const Action& action, Blocks blocks) {
  // Copies only read these bytes; Blocks has no const form.
  blocks.base =
      static_cast<std::byte*>(const_cast<void*>(step.inputs[action.port])) +
      action.port_offset;
  return blocks;
}

Blocks CallersOutput(const Step& step, const Action& action, Blocks blocks) {
  blocks.base =
      static_cast<std::byte*>(step.outputs[action.port]) + action.port_offset;
  return blocks;
}

}  // namespace

void ActionPerformer::StageFeed(const Step& step, const StreamProgram& program,
                                const Action& action) {
  const Transfer& transfer = program.transfers[action.transfer];
  const Blocks input = CallersInput(step, action, transfer.from);
  CopyOnHost({action.staging, input.size()}, input);
}

// The stream copies staged bytes while this thread goes on.
absl::Status ActionPerformer::Feed(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  if (action.staging == nullptr) {
    const Transfer& transfer = program.transfers[action.transfer];
    return stream_.Copy(transfer.to, CallersInput(step, action, transfer.from));
  }
  StageFeed(step, program, action);
  return CopyOnDevice(program, action);
}

absl::Status ActionPerformer::Fetch(const Step& step,
                                    const StreamProgram& program,
                                    const Action& action) {
  if (action.staging != nullptr) return CopyOnDevice(program, action);
  const Transfer& transfer = program.transfers[action.transfer];
  return stream_.Copy(CallersOutput(step, action, transfer.to), transfer.from);
}

absl::Status ActionPerformer::CopyOnDevice(const StreamProgram& program,
                                           const Action& action) {
  const Transfer transfer = DeviceTransferOf(program, action);
  return stream_.Copy(transfer.to, transfer.from);
}

void ActionPerformer::DeliverFetches(const Step& step,
                                     const StreamProgram& program) {
  for (const int index : program.staged_fetches) {
    const Action& action = program.actions[index];
    const Transfer& transfer = program.transfers[action.transfer];
    const Blocks output = CallersOutput(step, action, transfer.to);
    CopyOnHost(output, {action.staging, output.size()});
  }
}

WaitPolicy ActionPerformer::PolicyOf(const Step& step) const {
  return {.stop = &state_.failure.stopped(),
          .spins = state_.spins,
          .deadline = step.deadline};
}

// A wait that ended because another stream failed is not itself a failure.
absl::Status ActionPerformer::EndOfWait() const {
  return state_.failure.stopped() ? absl::OkStatus() : PastDeadline();
}

absl::Status ActionPerformer::Wait(const Step& step, const Action& action) {
  PARTITA_ASSIGN_OR_RETURN(
      const bool reached,
      stream_.Wait(*action.event, step.number, PolicyOf(step)));
  return reached ? absl::OkStatus() : EndOfWait();
}

absl::Status ActionPerformer::Collective(const Step& step,
                                         const StreamProgram& program,
                                         const Action& action) {
  for (const CollectivePhase phase : kCollectivePhases) {
    PARTITA_RETURN_IF_ERROR(PerformPhase(step, program, action, phase));
    if (state_.failure.stopped()) break;
  }
  return absl::OkStatus();
}

absl::Status ActionPerformer::PerformPhase(const Step& step,
                                           const StreamProgram& program,
                                           const Action& action,
                                           CollectivePhase phase) {
  RankCollective& collective =
      *program.communications[action.communication].collective;
  if (phase == CollectivePhase::kStart)
    return collective.Start(step.number, stream_);
  const bool works = phase == CollectivePhase::kWork;
  PARTITA_ASSIGN_OR_RETURN(
      const bool arrived,
      works ? collective.Work(step.number, stream_, PolicyOf(step))
            : collective.Finish(step.number, stream_, PolicyOf(step)));
  if (!arrived) return EndOfWait();
  return works ? absl::OkStatus() : SleepFor(action);
}

// The sender writes the message to a slot and goes on.
absl::Status ActionPerformer::Send(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  const CommunicationAction& role =
      program.communications[action.communication];
  const uint64_t point = step.number * role.messages + role.number + 1;
  PARTITA_RETURN_IF_ERROR(SleepFor(action));
  // Each step has its own slots: only messages of the same step fill them.
  if (role.number >= role.capacity &&
      !role.rendezvous->Wait(1, point - role.capacity, PolicyOf(step))) {
    return EndOfWait();
  }
  PARTITA_RETURN_IF_ERROR(Move(program, action));
  PARTITA_RETURN_IF_ERROR(stream_.Finish());
  role.rendezvous->Arrive(0, point);
  return absl::OkStatus();
}

absl::Status ActionPerformer::Recv(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  const CommunicationAction& role =
      program.communications[action.communication];
  const uint64_t point = step.number * role.messages + role.number + 1;
  if (!role.rendezvous->Wait(0, point, PolicyOf(step))) return EndOfWait();
  PARTITA_RETURN_IF_ERROR(Move(program, action));
  PARTITA_RETURN_IF_ERROR(stream_.Finish());
  role.rendezvous->Arrive(1, point);
  return absl::OkStatus();
}

// Messages of a device that computes nothing move no bytes.
absl::Status ActionPerformer::Move(const StreamProgram& program,
                                   const Action& action) {
  if (action.transfer < 0) return absl::OkStatus();
  const Transfer& transfer = program.transfers[action.transfer];
  return stream_.Copy(transfer.to, transfer.from);
}

absl::Status ActionPerformer::SleepFor(const Action& action) {
  if (action.sleep.count() == 0) return absl::OkStatus();
  return stream_.Sleep(action.sleep);
}

}  // namespace partita
