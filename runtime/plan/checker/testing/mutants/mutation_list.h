// The lists that Mutations() concatenates.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATION_LIST_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATION_LIST_H_

#include "absl/types/span.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"

namespace partita {

absl::Span<const Mutation> CommandMutations();
absl::Span<const Mutation> BufferMutations();
absl::Span<const Mutation> RangeMutations();
absl::Span<const Mutation> LayoutMutations();

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_MUTATION_LIST_H_
