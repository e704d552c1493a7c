// All base plans, family by family.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/mutants/base_plans.h"

#include <cstdio>
#include <cstdlib>

#include "runtime/plan/checker/mutants/plan_families.h"

namespace partita {

const std::vector<ShortPlan>& BasePlans() {
  static const auto* const plans = [] {
    auto* const all = new std::vector<ShortPlan>;
    for (const auto& family :
         {OrderPlans(), SharedBytePlans(), MicroBatchPlans(), MessagePlans(),
          CollectivePlans(), PermutePlans(), StepPlans(), CopyPlans(),
          EmptyPlans(), ShardedVariablePlans()}) {
      all->insert(all->end(), family.begin(), family.end());
    }
    return all;
  }();
  return *plans;
}

const ShortPlan& BasePlanNamed(absl::string_view name) {
  for (const ShortPlan& plan : BasePlans()) {
    if (plan.name == name) return plan;
  }
  std::fprintf(stderr, "found no base plan %s\n", std::string(name).c_str());
  std::abort();
}

}  // namespace partita
