// The commands of a few steps as the oracle's machines run them: with addresses
// of bytes and numbers of partners.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_UNROLLED_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_UNROLLED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

using Addresses = std::vector<int32_t>;  // in the order of the buffer's bytes

// An access to the slot of another op's message.
struct SlotAccess {
  int send;
  bool writes;
};

// One command of one step.
struct Op {
  CommandId command;  // in the step
  int step = 0;
  const Command* what = nullptr;
  std::vector<Addresses> operands;
  std::vector<Addresses> results;
  Addresses workspace;
  std::vector<bool> in_place;  // operands that a result may overwrite
  int previous = -1;           // previous op of its stream, or -1
  int number = -1;  // of its message or collective, from 0 in each step
  // Of a wait its records, of a recv its send, of a collective all ranks.
  std::vector<int> partners;
  std::vector<int> awaited;  // recv, collective: must start before it can end
  // Ops that access the same bytes, at least one of the two writing.
  std::vector<int> conflicts;
  Addresses slot;     // send: where its message is stored, contiguous
  int receiver = -1;  // send: the op that receives the message, or -1
  // Accesses to the slots of other ops' messages.
  std::vector<SlotAccess> slot_accesses;
  // Of a send: the ops that have it in `slot_accesses`.
  std::vector<int> slot_accessed_by;
};

// `steps` steps of one entry. All arenas are in one memory, in sequence.
struct Unrolled {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  int depth = 1;
  int steps = 0;
  int micro_batches = 1;
  CommandList commands;  // of one step
  std::vector<Op> ops;   // step by step, in launch order
  int32_t memory = 0;    // bytes of all arenas
  // True for addresses that keep their bytes from step to step.
  std::vector<bool> persistent;
  std::vector<int64_t> arena_begin;  // by device
  bool outside = false;  // some command accesses bytes outside the stated parts

  int num_commands() const { return static_cast<int>(commands.size()); }
  Addresses AddressesOf(const Buffer& buffer, int step) const;
};

// InvalidArgument for plans that no machine can run: ids that do not exist,
// arenas that are too large for an oracle.
absl::StatusOr<Unrolled> Unroll(const Plan& plan, int entry, int steps);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_UNROLLED_H_
