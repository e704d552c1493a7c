// One rule for each kind of collective.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/collective_rule.h"

namespace partita {

// No default: the compiler asks for the rule of a new kind. Without one,
// nothing may be in place and no names pass.
CollectiveRule RuleOf(CollectiveKind kind) {
  using Rule = CollectiveRule;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {.in_place = Rule::InPlace::kSame};
    case CollectiveKind::kReduceScatter:
      return {.in_place = Rule::InPlace::kResultInOperand};
    case CollectiveKind::kAllGather:
      return {.computes = false, .in_place = Rule::InPlace::kOperandInResult};
    case CollectiveKind::kAllToAll:
      return {.computes = false, .reached = Rule::Reached::kOverlapping};
    case CollectiveKind::kBroadcast:
      return {.computes = false};
    case CollectiveKind::kPermute:
      return {.computes = false, .reached = Rule::Reached::kSameShard};
  }
  return {};
}

}  // namespace partita
