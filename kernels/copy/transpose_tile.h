// Tiles whose rows are adjacent in the source and whose columns are adjacent in
// the target.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_COPY_TRANSPOSE_TILE_H_
#define PARTITA_KERNELS_COPY_TRANSPOSE_TILE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace partita {

// Copies element (i, j), of 4 bytes, from from + 4 i + columns[j] to to +
// rows[i] + 4 j: in squares, and the rest one by one.
void TransposeTile(const char* from, char* to, absl::Span<const int64_t> rows,
                   absl::Span<const int64_t> columns);

}  // namespace partita

#endif  // PARTITA_KERNELS_COPY_TRANSPOSE_TILE_H_
