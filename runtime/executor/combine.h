// Joins the partial results of several members, element by element.
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

// For each of `elements`: ((parts[0] op parts[1]) op parts[2]) ..., so the bits
// depend on the order of the parts alone, not on who computes which elements.
// f16 and bf16 are joined in f32 and rounded once; integer sums wrap; a NaN is
// the greatest and the least. All parts are read `offset` bytes on. What they
// come to is written to each of `outs`, `out_offset` bytes on; any of these may
// be exactly where a part is read. Allocates nothing.
using CombineParts = void (*)(absl::Span<const std::byte* const> parts,
                              int64_t offset, absl::Span<std::byte* const> outs,
                              int64_t out_offset, int64_t elements);

// Unimplemented for what has no meaning, such as the sum of bools.
absl::StatusOr<CombineParts> FindCombine(DType dtype, Reduction reduction);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COMBINE_H_
