// Reads a node of any op in a table as an index program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_READ_INDEX_PROGRAM_H_
#define PARTITA_KERNELS_OP_PROGRAMS_READ_INDEX_PROGRAM_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "kernels/codegen/index_program.h"
#include "kernels/op_programs/index_node.h"

namespace partita {

// Without a name. Unimplemented, naming the cause: other ops, attributes and
// dtypes. Values are taken as row-major, except those of a reorder. `has_fma`
// as for ProgramBuilder.
absl::StatusOr<IndexProgram> ReadIndexProgram(const OpView& node, bool has_fma);

// Writes the program of the node's op. Unimplemented as above.
absl::Status BuildIndexProgram(IndexNode& node);

// True if the op is one of those, for some attributes and dtypes.
bool IsIndexOp(const OpDef& op);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_READ_INDEX_PROGRAM_H_
