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

// How many instructions an element takes; none if no code can be generated for
// the node. If it can, then in row-major layouts and in any one layout without
// padding for all values of the result's extents.
std::optional<int> CountInstructions(const OpView& node);

// The program in the layouts that the node's types have. Unimplemented, naming
// what is not generated: ops, dtypes, layouts with padding, two layouts of
// full-sized values, results of several extents, constants of more than one
// element inside a body.
absl::StatusOr<ElementwiseProgram> ReadProgram(const OpView& node,
                                               absl::string_view isa);

// The name of the node's function in images: of body, types and layouts only,
// so that it stays the same from version to version.
std::string EntryName(const OpView& node);

// The image that holds code for a device: "x86-64-avx512". An empty instruction
// set is MeantIsa here and below.
std::string ImageTarget(absl::string_view isa);
// The arithmetic of functions and interpreter alike: both give the same bits.
std::string CodegenArithmetic(absl::string_view isa);
// The instruction sets that code is generated for, and the empty one.
bool IsKnownIsa(absl::string_view isa);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_READ_PROGRAM_H_
