// A matmul or convolution, and the elementwise ops that follow it in a fused
// node, as one index program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_EPILOGUE_H_
#define PARTITA_KERNELS_OP_PROGRAMS_EPILOGUE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "kernels/codegen/index_program.h"

namespace partita {

// The first op of a fused node's body that is neither elementwise nor a
// constant; nullopt if there is none, and for other nodes.
std::optional<OpView> HeadOf(const OpView& node);

// Without a name. A node with a head: the value of the head is rounded to its
// type, as if it were stored, and the other ops compute on it. Unimplemented,
// naming the cause: other heads, two of them, operands of the head that are not
// the node's, and the causes of ReadBody. `has_fma` as for ProgramBuilder.
absl::StatusOr<IndexProgram> ReadEpilogueProgram(const OpView& fused,
                                                 bool has_fma);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_EPILOGUE_H_
