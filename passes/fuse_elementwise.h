// Fuses clusters of elementwise ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FUSE_ELEMENTWISE_H_
#define PARTITA_PASSES_FUSE_ELEMENTWISE_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "passes/pass_context.h"

namespace partita {

// Makes one fused node of each maximal tree of elementwise ops with equal
// extents, so that values between them stay in registers.
//
//   before                       after
//   %a = mul %x, %s              %y = fused(%x, %s, %t) {
//   %b = add %a, %t                %a = mul ...; %b = add ...; %y = sigmoid ...
//   %y = sigmoid %b              }
//
// A value joins the cluster of its readers if all of them are in it, so no
// cycle can arise. If it is also an output of the graph, or a new value of a
// variable, it becomes one more result: an optimizer's state and the parameter
// that is computed from it are written in one pass. Skips: clusters of one op,
// `fused` nodes, and clusters that no device's kernel could compute whole.
absl::Status FuseElementwise(Graph& graph, const PassContext& context);
// The same without a context.
absl::Status FuseElementwise(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FUSE_ELEMENTWISE_H_
