// Attention and norms as exporters write them, at random.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_
#define PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_

#include <cstdint>

#include "graph/graph.h"

namespace partita {

// A module of one function; deterministic for a seed. Most can become one op;
// the others differ in one detail that a pass has to check.
Module DrawnAttention(uint64_t seed);
Module DrawnRmsNorm(uint64_t seed);

}  // namespace partita

#endif  // PARTITA_TESTS_PASSES_DRAWN_SPELLINGS_H_
