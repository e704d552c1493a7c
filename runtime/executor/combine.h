// Reduces the partial results of several ranks, element by element.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COMBINE_H_
#define PARTITA_RUNTIME_EXECUTOR_COMBINE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/placement.h"

namespace partita {

// Writes ((summands[0] op summands[1]) op summands[2]) ... for each of
// `elements` elements. The bits depend only on the order of the summands, not
// on which rank computes which elements. f16 and bf16 are reduced in f32 and
// rounded once. Integer sums wrap. A NaN wins every max and min. Reads each
// summand from `offset` bytes on, and writes to each of `outs` from
// `out_offset` bytes on. An output may be exactly where a summand is read.
// Allocates nothing.
using CombineFunction = void (*)(absl::Span<const std::byte* const> summands,
                                 int64_t offset,
                                 absl::Span<std::byte* const> outs,
                                 int64_t out_offset, int64_t elements);

// Unimplemented for a pair without a meaning, such as the sum of bools.
absl::StatusOr<CombineFunction> FindCombine(DType dtype, Reduction reduction);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMBINE_H_
