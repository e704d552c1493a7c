// The hash of a plan without its notes, for certificates.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_HASH_H_
#define PARTITA_RUNTIME_PLAN_PLAN_HASH_H_

#include <string>

#include "runtime/plan/plan.h"

namespace partita {

// XXH3 (128 bits, 32 hexadecimal digits) of the plan's text without notes,
// comments and certificate: the value of Certificate::plan_hash. The text has
// the hashes of constants and native code.
std::string PlanHash(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_HASH_H_
