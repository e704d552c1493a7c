// The judge of the checker: runs a plan on machines and says whether any run
// goes wrong.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ORACLE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ORACLE_H_

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace partita {

struct OracleOptions {
  int steps = 3;
  int64_t max_states = 20000;  // beyond this the search is not exhaustive
  int random_runs = 200;       // then
  uint32_t seed = 1;
};

struct Verdict {
  bool runnable = true;     // false: no machine can make sense of the plan
  bool exhaustive = false;  // every loose run was looked at
  std::string harm;         // the first harm found; empty: none
  bool harmful() const { return !harm.empty(); }
};

// Runs entry `entry` for a few steps with different inputs, all but persistent
// bytes made junk in between: on the tight machine, and on the loose one all
// runs, or else for every command the run that starts it as early and ends it
// as late as possible, and some at random. The plan's graph must be a good one.
Verdict Judge(const Plan& plan, int entry, const OracleOptions& options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_ORACLE_H_
