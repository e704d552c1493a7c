// Small random changes of a plan that may break it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATE_H_

#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/plan.h"

namespace partita {

using Random = std::mt19937;

// A kind of mutation. `apply` changes entry 0, the devices or the layouts of
// the plan and describes the change. It returns "" and changes nothing if the
// plan has no suitable position.
struct Mutation {
  const char* name;
  std::string (*apply)(Plan& plan, Random& random);
};

absl::Span<const Mutation> Mutations();

// The parts of a plan that mutations change, to restore them. (A Plan cannot be
// copied, because it owns its graphs.)
class SavedParts {
 public:
  explicit SavedParts(const Plan& plan);
  void Restore(Plan& plan) const;

 private:
  Entry entry_;
  std::vector<PlanDevice> devices_;
  std::vector<Layout> layouts_;  // by value id of the entry's graph
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATE_H_
