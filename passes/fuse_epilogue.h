// Fuses what follows a convolution or matmul into it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FUSE_EPILOGUE_H_
#define PARTITA_PASSES_FUSE_EPILOGUE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"

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
// constant that broadcasts; with a variable that does, as the last. Each value
// inside has one reader.
// Skips: a convolution that nothing follows; an add or mul with what an
// elementwise op makes for it alone, which is fused with that one instead, for
// one walk over memory of both; an op that would lose the division that a pin
// asks for, and what follows it; and a matmul that sums over the batch: parts
// of a weight's gradient can be added up only before anything else is done with
// them, and the update fuses with itself. The batch is that of these inputs
// (FindBatch).
absl::Status FuseEpilogue(Graph& graph,
                          absl::Span<const std::string> batch_inputs);
// The same without names.
absl::Status FuseEpilogue(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FUSE_EPILOGUE_H_
