// The live bytes of a plan of one device, with every possible result in place.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_
#define PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_

#include <cstdint>

#include "runtime/plan/plan.h"

namespace partita {

// Returns the peak over the commands of an entry for one device. Uses the
// placed graph and the order of its nodes in the plan, not the buffers. Sizes
// are rounded up to multiples of 64 bytes.
int64_t SequentialBound(const Entry& entry);

}  // namespace partita

#endif  // PARTITA_TESTS_LOWERING_SEQUENTIAL_BOUND_H_
