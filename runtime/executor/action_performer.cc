// The switch over kinds of actions.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/action_performer.h"

#include <algorithm>
#include <thread>

#include "graph/status_macros.h"
#include "runtime/executor/collective.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

// A sleep that ended late by less than this is made up for by the next.
constexpr auto kMaxOversleep = std::chrono::microseconds(300);

}  // namespace

absl::Status PastDeadline() {
  return absl::DeadlineExceededError(
      "found the deadline of the run passed; expected the step to end before");
}

void ActionPerformer::BeginStep() {
  if (timed_) slept_until_ = Clock::now();
}

absl::Status ActionPerformer::Perform(const Step& step,
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
      return stream_.Copy(transfer.to, from);
    }
    case Action::Kind::kFetch: {
      const Transfer& transfer = program.transfers[action.transfer];
      Blocks to = transfer.to;
      to.base = static_cast<std::byte*>(step.outputs[action.port]) +
                action.port_offset;
      return stream_.Copy(to, transfer.from);
    }
    case Action::Kind::kRecord:
      return stream_.Record(*action.event, step.number);
    case Action::Kind::kWait:
      return Wait(step, action);
    case Action::Kind::kCollective:
      return Collective(step, action, program.exchanges[action.exchange]);
    case Action::Kind::kSend:
      return Send(step, program, action);
    case Action::Kind::kRecv:
      return Recv(step, program, action);
    case Action::Kind::kSleep:
      Sleep(action.sleep);
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

WaitPolicy ActionPerformer::PolicyOf(const Step& step) const {
  return {.stop = &state_.failure.stopped(),
          .spins = state_.spins,
          .deadline = step.deadline};
}

// A wait that another's failure ended is no failure of its own.
absl::Status ActionPerformer::EndOfWait() const {
  return state_.failure.stopped() ? absl::OkStatus() : PastDeadline();
}

absl::Status ActionPerformer::Wait(const Step& step, const Action& action) {
  if (!stream_.Wait(*action.event, step.number, PolicyOf(step))) {
    return EndOfWait();
  }
  if (timed_) SleptForOthers();
  return absl::OkStatus();
}

absl::Status ActionPerformer::Collective(const Step& step, const Action& action,
                                         const Exchange& exchange) {
  const WaitPolicy policy = PolicyOf(step);
  const uint64_t first =
      step.number * exchange.points_per_step + exchange.first_point;
  bool met = true;
  const auto meet = [&](int point) {
    met = exchange.place->Meet(exchange.seat, first + point, policy);
    return met;
  };
  if (!timed_) {
    PARTITA_RETURN_IF_ERROR(RunCollective(exchange.parts, stream_, meet));
    return met ? absl::OkStatus() : EndOfWait();
  }
  if (!meet(0)) return EndOfWait();
  SleptForOthers();
  Sleep(action.sleep);
  return absl::OkStatus();
}

// With room in the channel a message is left there. Without, its receiver takes
// it from the sender, who waits until it has.
absl::Status ActionPerformer::Send(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  const Exchange& exchange = program.exchanges[action.exchange];
  const uint64_t point =
      step.number * exchange.points_per_step + exchange.first_point;
  if (timed_) Sleep(action.sleep);
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

absl::Status ActionPerformer::Recv(const Step& step,
                                   const StreamProgram& program,
                                   const Action& action) {
  const Exchange& exchange = program.exchanges[action.exchange];
  const uint64_t point =
      step.number * exchange.points_per_step + exchange.first_point;
  if (!exchange.place->Await(0, point, PolicyOf(step))) return EndOfWait();
  if (timed_) SleptForOthers();
  PARTITA_RETURN_IF_ERROR(Move(program, action));
  exchange.place->Pass(1, point);
  return absl::OkStatus();
}

// Timed devices move nothing.
absl::Status ActionPerformer::Move(const StreamProgram& program,
                                   const Action& action) {
  if (action.transfer < 0) return absl::OkStatus();
  const Transfer& transfer = program.transfers[action.transfer];
  return stream_.Copy(transfer.to, transfer.from);
}

void ActionPerformer::SleptForOthers() {
  slept_until_ = std::max(slept_until_, Clock::now());
}

void ActionPerformer::Sleep(std::chrono::nanoseconds duration) {
  const SteadyTime now = Clock::now();
  if (now - slept_until_ > kMaxOversleep) slept_until_ = now;
  slept_until_ += duration;
  if (slept_until_ > now) std::this_thread::sleep_until(slept_until_);
}

}  // namespace partita
