// What the proof knows of each kind of collective. Shared with no other code:
// the compiler has a table of its own (runtime/plan/collective.cc).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_COLLECTIVE_RULE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_COLLECTIVE_RULE_H_

#include <cstdint>

#include "runtime/plan/collective.h"

namespace partita {

struct CollectiveRule {
  // The bytes of a rank's operand and result that may be the same.
  enum class InPlace : uint8_t {
    kNever,
    kSame,             // both whole
    kOperandInResult,  // the operand at its place in the result
    kResultInOperand,  // the result at its place in the operand
  };
  // The ranks that one rank's bytes reach: all that take some; those whose
  // shard overlaps, if both shardings split one dimension; those that take the
  // same shard.
  enum class Reached : uint8_t { kAll, kOverlapping, kSameShard };

  // Results have new bytes. Other kinds move bytes, so names pass through them.
  bool computes = true;
  InPlace in_place = InPlace::kNever;
  Reached reached = Reached::kAll;
};

CollectiveRule RuleOf(CollectiveKind kind);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_COLLECTIVE_RULE_H_
