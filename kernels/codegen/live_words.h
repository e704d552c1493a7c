// Registers of 4 bytes that the values of a generated kernel take in a thread.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LIVE_WORDS_H_
#define PARTITA_KERNELS_CODEGEN_LIVE_WORDS_H_

#include <cstdint>

#include "kernels/codegen/index_program.h"
#include "kernels/codegen/index_tile.h"
#include "kernels/codegen/program.h"
#include "kernels/codegen/row_program.h"

namespace partita {

// Each counts the words that are live at once where they are most. A value is
// live from its instruction to the last one that reads it. Constants are in
// instructions, and bools in predicates: they take none. Addresses and the
// coordinates of loops around a program's bodies are not counted.
//
// Elements and points are counted in sequence: the first one with all its
// values, the others with what they read or, if that is more, with their
// results.

// Of `group` elements.
int64_t LiveWords(const ElementwiseProgram& program, int group);

// The same, with the accumulators and the scalars of a row.
int64_t LiveWords(const RowProgram& program, int group);

// Of a tile's points: states are live in all steps, as are the values that
// every round of the innermost loop reads again. The reads of steps and terms
// that are computed at once may all be made first.
int64_t LiveWords(const IndexProgram& program, const IndexTile& tile);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LIVE_WORDS_H_
