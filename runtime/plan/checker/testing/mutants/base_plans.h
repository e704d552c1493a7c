// Hand-written correct plans, the basis of mutants: the files plans/*.plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_BASE_PLANS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_BASE_PLANS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/plan/plan.h"

namespace partita {

// A plan of one entry in a short form. `launch` has one command a line, in
// launch order, after the name of its stream. `devices` has lines of name,
// persistent and step-local bytes. `declared` is text of the entry. The initial
// shards of a sharded variable are taken from the whole value.
struct ShortPlan {
  absl::string_view name;
  absl::string_view graph;
  absl::string_view devices;
  absl::string_view declared;
  absl::string_view launch;
};

// The plan's text, as ParsePlan reads it.
std::string TextOf(const ShortPlan& plan);

// Parses the plan; ends the program if that fails, because the plans are
// written by hand.
Plan PlanOf(const ShortPlan& plan);

// Read from the runfiles; ends the program if that fails.
const std::vector<ShortPlan>& BasePlans();

// The base plan of this name; ends the program if there is none.
const ShortPlan& BasePlanNamed(absl::string_view name);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_BASE_PLANS_H_
