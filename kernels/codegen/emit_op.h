// A table of the elementwise ops in terms of a program's instructions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_EMIT_OP_H_
#define PARTITA_KERNELS_CODEGEN_EMIT_OP_H_

#include <optional>

#include "absl/types/span.h"
#include "graph/op_view.h"
#include "kernels/codegen/program_builder.h"

namespace partita {

// The op's result from its operands, each of the type that its dtype is
// computed in (narrow_types.h); nullopt if the op, or its dtypes, cannot be
// generated.
std::optional<Register> EmitOp(const OpView& op,
                               absl::Span<const Register> operands);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_EMIT_OP_H_
