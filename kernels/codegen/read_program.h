// Reads an elementwise node, fused or not, as a program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_READ_PROGRAM_H_
#define PARTITA_KERNELS_CODEGEN_READ_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"
#include "kernels/codegen/program.h"

namespace partita {

// The number of instructions for an element; nullopt if no code can be
// generated for the node. Generated code supports row-major layouts, and any
// other single layout without padding for all values with the result's extents.
std::optional<int> CountInstructions(const OpView& node);
// The instructions and the types of operands, without loops and strides,
// whatever layouts the values have. Unimplemented, naming the cause: ops and
// dtypes.
absl::StatusOr<ElementwiseProgram> ReadInstructions(const OpView& node,
                                                    bool has_fma);

// The program for the layouts of the node's types. Unimplemented, naming the
// cause: ops, dtypes, layouts with padding, two layouts of full-sized values,
// results of several extents, constants of more than one element inside a body.
absl::StatusOr<ElementwiseProgram> ReadProgram(const OpView& node,
                                               absl::string_view isa);

// The name of the node's function in code objects, with the kind of its
// program. Depends only on body, types and layouts, so it does not change
// between versions.
std::string EntryName(const OpView& node,
                      absl::string_view kind = "elementwise");

// CodeTargetOf a CPU: "x86-64-avx512". An empty instruction set means MeantIsa,
// here and below.
std::string CodeTarget(absl::string_view isa);
// The arithmetic of compiled functions and of the interpreter: both give the
// same bits.
Arithmetic CodegenArithmetic(absl::string_view isa);
// That of generated kernels on every GPU.
Arithmetic PtxArithmetic();
// True if the processors, or GPUs, of the instruction set have fused
// multiply-add.
bool HasFma(absl::string_view isa);
// The instruction sets for which code is generated, and the empty one.
bool IsKnownIsa(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_READ_PROGRAM_H_
