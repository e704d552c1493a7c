// The commands of a few steps as the oracle's machines run them: bytes by
// address, partners by number.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_UNROLLED_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_UNROLLED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

using Addresses = std::vector<int32_t>;  // in the order of the buffer's bytes

// A message whose slot some other op touches.
struct SlotTouch {
  int send;
  bool writes;
};

// One command of one step.
struct Op {
  int command = 0;  // its number in the step
  int step = 0;
  const Command* what = nullptr;
  std::vector<Addresses> operands;
  std::vector<Addresses> results;
  Addresses workspace;
  std::vector<bool> in_place;  // operands that a result may lie upon
  int previous = -1;           // op before it in its stream, or -1
  int number = -1;             // of its message or collective, from 0 each step
  std::vector<int> partners;   // wait: records; recv: its send; part: all parts
  std::vector<int> awaited;    // recv, part: must start before it can end
  std::vector<int> conflicts;  // ops that touch its bytes, one of them writing
  Addresses slot;              // send: where its message lies, in one row
  int receiver = -1;           // send: who takes the message, or -1
  // Messages that are not its own: their slots are no business of its.
  std::vector<SlotTouch> slot_touches;
  std::vector<int> slot_touched_by;  // send: ops that have it among theirs
};

// `steps` steps of one entry, arenas one after the other in one memory.
struct Unrolled {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  int depth = 1;
  int steps = 0;
  int micro_batches = 1;
  std::vector<Command> commands;  // of one step
  std::vector<Op> ops;            // step by step, in launch order
  int32_t memory = 0;             // bytes of all arenas
  // True for addresses that keep their bytes from step to step.
  std::vector<bool> persistent;
  std::vector<int64_t> arena_begin;  // by device
  bool outside = false;  // some command touches bytes beyond what is stated

  int num_commands() const { return static_cast<int>(commands.size()); }
  Addresses AddressesOf(const Buffer& buffer, int step) const;
};

// InvalidArgument for plans that no machine can run at all: ids of nothing,
// arenas too large for an oracle.
absl::StatusOr<Unrolled> Unroll(const Plan& plan, int entry, int steps);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_UNROLLED_H_
