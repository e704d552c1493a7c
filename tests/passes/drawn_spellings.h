// Attention and norms in the ways in which exporters write them, at random.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_
#define PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_

#include <cstdint>

#include "graph/graph.h"

namespace partita {

// A module of one function, the same for the same seed. Most can become one op;
// in the others one thing is different that a pass has to look at.
Module DrawnAttention(uint64_t seed);
Module DrawnRmsNorm(uint64_t seed);

}  // namespace partita

#endif  // PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_
