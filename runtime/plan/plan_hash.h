// What a certificate is about: a plan without what only helps people.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_HASH_H_
#define PARTITA_RUNTIME_PLAN_PLAN_HASH_H_

#include <string>

#include "runtime/plan/plan.h"

namespace partita {

// XXH3 (128 bits, 32 hexadecimal digits) of the plan's text without notes,
// comments and certificate: the value for Certificate::plan_hash. Constants and
// images count by their own hashes.
std::string PlanHash(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_HASH_H_
