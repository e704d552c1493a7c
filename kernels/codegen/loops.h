// How a program traverses its operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOOPS_H_
#define PARTITA_KERNELS_CODEGEN_LOOPS_H_

#include "absl/status/status.h"
#include "graph/op_view.h"
#include "kernels/codegen/program.h"

namespace partita {

// Sets the loops and the operands' strides from the types of the node, whose
// operands broadcast to its results. Merges loops that all operands traverse
// contiguously. Unimplemented for padding, for results of several layouts, and
// for operands that are neither like them nor row-major. (A shard's operand
// that the whole broadcasts may have the results' extents.)
absl::Status ReadLoops(const OpView& node, ElementwiseProgram& program);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOOPS_H_
