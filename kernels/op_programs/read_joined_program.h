// Reads a node of an op with results of several extents as one index program
// for each result.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_READ_JOINED_PROGRAM_H_
#define PARTITA_KERNELS_OP_PROGRAMS_READ_JOINED_PROGRAM_H_

#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "kernels/codegen/index_program.h"

namespace partita {

// Without a name. Unimplemented, naming the cause: other ops, attributes and
// dtypes. Values are taken as row-major. `has_fma` as for ProgramBuilder.
absl::StatusOr<JoinedProgram> ReadJoinedProgram(const OpView& node,
                                                bool has_fma);

// True if the op is one of those, for some attributes and dtypes.
bool IsJoinedOp(const OpDef& op);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_READ_JOINED_PROGRAM_H_
