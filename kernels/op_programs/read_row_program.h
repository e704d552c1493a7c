// Reads a reduction, softmax or norm as a program over rows.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_READ_ROW_PROGRAM_H_
#define PARTITA_KERNELS_OP_PROGRAMS_READ_ROW_PROGRAM_H_

#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "kernels/codegen/row_program.h"

namespace partita {

// Without a name. Unimplemented, naming the cause: other ops and dtypes, empty
// rows, and a softmax along an axis that is not the last. Values are taken as
// row-major. `has_fma` as for ProgramBuilder.
absl::StatusOr<RowProgram> ReadRowProgram(const OpView& node, bool has_fma);

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_READ_ROW_PROGRAM_H_
