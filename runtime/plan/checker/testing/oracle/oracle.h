// The reference for the checker: runs a plan on symbolic machines and reports
// whether any run goes wrong.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ORACLE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ORACLE_H_

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace partita {

struct OracleOptions {
  int steps = 3;
  int64_t max_states = 20000;  // beyond this the search is not exhaustive
  int random_runs = 200;       // if the search is not exhaustive
  uint32_t seed = 1;
};

struct Verdict {
  bool runnable = true;     // false: no machine can run the plan
  bool exhaustive = false;  // all loose runs were searched
  std::string harm;         // the first harm found; empty: none
  bool harmful() const { return !harm.empty(); }
};

// Runs entry `entry` for a few steps with different inputs; between steps all
// but persistent bytes become junk. Runs the plan on the tight machine and on
// the loose machine. There it tries all runs; if these are too many, for every
// command the run that starts it as early and ends it as late as possible, and
// some random runs. The plan's graph must be correct.
Verdict Judge(const Plan& plan, int entry, const OracleOptions& options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_ORACLE_H_
