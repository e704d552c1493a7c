// Families of base plans, one file for each.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_MUTANTS_PLAN_FAMILIES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_MUTANTS_PLAN_FAMILIES_H_

#include <vector>

#include "runtime/plan/checker/mutants/base_plans.h"

namespace partita {

std::vector<ShortPlan> OrderPlans();
std::vector<ShortPlan> SharedBytePlans();
std::vector<ShortPlan> MicroBatchPlans();
std::vector<ShortPlan> MessagePlans();
std::vector<ShortPlan> CollectivePlans();
std::vector<ShortPlan> PermutePlans();
std::vector<ShortPlan> StepPlans();
std::vector<ShortPlan> CopyPlans();
std::vector<ShortPlan> EmptyPlans();
std::vector<ShortPlan> ShardedVariablePlans();

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_MUTANTS_PLAN_FAMILIES_H_
