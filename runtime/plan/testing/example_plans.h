// Plans for tests. They have not passed the checker.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_TESTING_EXAMPLE_PLANS_H_
#define PARTITA_RUNTIME_PLAN_TESTING_EXAMPLE_PLANS_H_

#include <string>

#include "runtime/plan/plan.h"

namespace partita {

// Every construct of the text, as PrintPlan writes it. One persistent value and
// the native code are given by hash only.
std::string EveryConstruct();

// The same plan with all bytes, native code, a constant and a variable of at
// least a page, notes, and a certificate: everything that a file can hold.
Plan EveryConstructWithBytes();

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_TESTING_EXAMPLE_PLANS_H_
