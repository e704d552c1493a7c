// Plans for tests, none of which a checker has seen.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_EXAMPLE_PLANS_H_
#define PARTITA_RUNTIME_PLAN_EXAMPLE_PLANS_H_

#include <string>

#include "runtime/plan/plan.h"

namespace partita {

// Every construct of the text, in the form that PrintPlan gives it. One
// persistent value and the image are known by hash only.
std::string EveryConstruct();

// The same with all bytes at hand, an image, a constant and a variable of a
// page and more, notes, and a certificate: what a file can hold.
Plan EveryConstructWithBytes();

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_EXAMPLE_PLANS_H_
