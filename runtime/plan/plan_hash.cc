// Hash of a plan's text.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_hash.h"

#include "graph/literal_pool.h"
#include "runtime/plan/plan_text.h"

namespace partita {

std::string PlanHash(const Plan& plan) {
  const std::string text =
      PrintPlan(plan, {.comments = false, .certificate = false});
  return HashBytes(
             {reinterpret_cast<const std::byte*>(text.data()), text.size()})
      .ToString();
}

}  // namespace partita
