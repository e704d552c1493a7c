// Mixed precision: products in half precision, everything else in f32
// (Micikevicius et al. 2018).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_MIXED_PRECISION_H_
#define PARTITA_GRAPH_BUILDER_MIXED_PRECISION_H_

#include "absl/status/status.h"
#include "graph/builder/graph_builder.h"

namespace partita {

// Makes the f32 matrix products and convolutions of the function products of
// `dtype`: bf16 or f16, or f32 for no change.
//
//   before                                after
//   %y = matmul %x, %w : f32[8, 3]        %xh = cast %x {to = bf16}
//                                         %wh = cast %w {to = bf16}
//                                         %p = matmul %xh, %wh : bf16[8, 3]
//                                         %y = cast %p {to = f32}
//
// A value that several products read is cast once. A convolution's bias is
// added in f32. Call before making gradients, so that products of the backward
// pass have this dtype too, with f32 results. Variables stay f32, and are
// updated in f32. Values keep their ids.
//
// InvalidArgument for another dtype.
absl::Status NarrowProducts(GraphBuilder& b, DType dtype);

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_MIXED_PRECISION_H_
