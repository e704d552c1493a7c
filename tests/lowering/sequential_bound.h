// The live bytes of a plan's order on one device with every result in place
// that kernels allow.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_
#define PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_

#include <cstdint>

#include "runtime/plan/plan.h"

namespace partita {

// The peak over the commands of an entry of one device, from the placed graph
// and the order of its nodes in the plan; buffers are not looked at. Sizes
// count in multiples of 64.
int64_t SequentialBound(const Entry& entry);

}  // namespace partita

#endif  // PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_
