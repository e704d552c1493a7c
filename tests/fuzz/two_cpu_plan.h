// The plan of fuzz targets whose inputs are about a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_TWO_CPU_PLAN_H_
#define PARTITA_TESTS_FUZZ_TWO_CPU_PLAN_H_

#include "runtime/plan/plan.h"

namespace partita {

// A proved plan without notes: a kernel on cpu:0, a copy, and a kernel on
// cpu:1. It has seven commands in two streams.
Plan TwoCpuPlan();

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_TWO_CPU_PLAN_H_
