// Proves that a graph with kernels computes the same as the placed graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_BINDING_VERIFY_BINDING_H_
#define PARTITA_BINDING_VERIFY_BINDING_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Proves that `bound` computes the same values as `placed`, as `eval` defines
// them: choosing kernels may only change layouts, and which nodes one kernel
// computes. Shares no code with ChooseKernels and the passes that it calls,
// except BodyPlacements (docs/internals/proof.md). It compares the normal forms
// of both graphs (binding/normal_form.h), in which every fused node is replaced
// by its body and a reorder is its operand:
//  1. The nodes that outputs and updates depend on match one to one, in any
//     order: same op, attributes by their bits, operands, devices, shardings
//     and types except for layouts.
//  2. Constants are equal if their elements are, in any layout; the padding of
//     a layout is zero.
//  3. Copies, buckets and sums over micro-batches, which pass bytes on without
//     a kernel, keep the layout of each operand (graph/check_layouts.h).
//  4. Inputs, outputs and updates have the same names, types with layouts,
//     devices and shardings, and the same values.
// Kernels, workspaces and other layouts inside are not compared: binding a
// kernel compares those with its signature, and the plan's checker with the
// bytes.
// Takes time in proportion to the nodes, and to the bytes of the constants that
// were packed, which are compared where they are. Both graphs must have passed
// Verify. Internal, "bug: ...", lists the first 20 differences.
absl::Status VerifyBinding(const Graph& placed, const Graph& bound);

}  // namespace partita

#endif  // PARTITA_BINDING_VERIFY_BINDING_H_
