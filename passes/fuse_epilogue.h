// Fuses elementwise ops after a convolution or matmul into it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FUSE_EPILOGUE_H_
#define PARTITA_PASSES_FUSE_EPILOGUE_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "passes/pass_context.h"

namespace partita {

// Makes one fused node of a convolution or matmul and the elementwise ops that
// follow it, so that its result is written once.
//
//   before                       after
//   %c = conv %x, %w, %b         %y = fused(%x, %w, %b, %r) {
//   %s = add %c, %r                %c = conv ...; %s = add ...; %y = relu ...
//   %y = relu %s                 }
//
// Takes: activations, and add or mul with a value of the result's extents or a
// broadcast constant; with a broadcast variable only as the last op. Each value
// inside has one reader. Skips: a convolution without such ops; an add or mul
// whose other operand is an elementwise result with no other reader (they are
// fused with each other, in one pass over memory); an op that could not be
// sharded as a pin says, and ops after it; a matmul that sums over the batch
// (its partial sums must be added up before anything else, and the update is
// fused separately); what no device's kernel could compute whole.
absl::Status FuseEpilogue(Graph& graph, const PassContext& context);
// The same without a context.
absl::Status FuseEpilogue(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FUSE_EPILOGUE_H_
