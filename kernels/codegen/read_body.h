// The elementwise ops of a fused node's body as formulas over registers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_READ_BODY_H_
#define PARTITA_KERNELS_CODEGEN_READ_BODY_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "graph/op_view.h"
#include "kernels/codegen/program_builder.h"

namespace partita {

// What a node or a body computes with.
struct BodySource {
  ProgramBuilder& builder;
  // An operand of the node as it is in memory. Not called for exponents.
  std::function<absl::StatusOr<Register>(int operand)> operand;
  // The value of an op of the body that is not elementwise, a 16-bit float as
  // f32; nullopt if there is none. Null: there is none for any op.
  std::function<std::optional<Register>(const OpView& op)> head = nullptr;
};

// The outputs of a fused node's body, or the result of an elementwise node, as
// they are stored in memory. Unimplemented, naming the cause: ops, dtypes,
// outputs of several extents, constants of more than one element in a body.
absl::StatusOr<std::vector<Register>> ReadBody(const OpView& node,
                                               const BodySource& source);

// The one element of an operand that is a constant exponent; null otherwise. It
// counts as part of the node, although the graph holds it outside the node.
const HostTensor* KnownExponent(const OpView& node, int operand);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_READ_BODY_H_
