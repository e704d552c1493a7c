// Finds ops that return their operand unchanged.
// SPDX-License-Identifier: Apache-2.0

#include "passes/remove_identities.h"

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/views.h"

namespace partita {
namespace {

// True for a constant with all elements equal to `wanted`. Checks only small
// ones: exporters write no large constants without effect.
bool IsAll(const ValueView& value, double wanted) {
  constexpr int64_t kMaxElements = 4096;
  if (value.type().num_elements() > kMaxElements) return false;
  const HostTensor* constant = value.constant();
  if (constant == nullptr) return false;
  for (int64_t i = 0; i < value.type().num_elements(); ++i) {
    if (GetAsDouble(*constant, i) != wanted) return false;
  }
  return true;
}

// The operand that an arithmetic op returns unchanged, or -1.
int NeutralOperand(const OpView& op) {
  const bool exact_zero = !IsFloat(op.result_type(0).dtype);
  if (op.is(kMul)) {
    return IsAll(op.operand(1), 1) ? 0 : IsAll(op.operand(0), 1) ? 1 : -1;
  }
  if (op.is(kAdd) && exact_zero) {
    return IsAll(op.operand(1), 0) ? 0 : IsAll(op.operand(0), 0) ? 1 : -1;
  }
  if (op.is(kSub)) return IsAll(op.operand(1), 0) ? 0 : -1;
  if (op.is(kDiv) || op.is(kPow)) return IsAll(op.operand(1), 1) ? 0 : -1;
  return -1;
}

bool PadsNothing(const OpView& op) {
  if (!op.is(kPad)) return false;
  for (const char* side : {"before", "after"}) {
    for (int64_t amount : op.attr_ints(side)) {
      if (amount != 0) return false;
    }
  }
  return true;
}

// The operand that the op returns unchanged, or -1.
int IdentityOperand(const OpView& op) {
  if (op.num_results() != 1 || op.op().traits.placed_only) return -1;
  if (op.num_operands() == 0) return -1;
  int operand = NeutralOperand(op);
  const bool gives_back = op.is(kStopGradient) || op.is(kCast) ||
                          PadsNothing(op) || IsWholeView(op);
  if (operand < 0 && gives_back) operand = 0;
  if (operand < 0) return -1;
  return op.operand_type(operand) == op.result_type(0) ? operand : -1;
}

}  // namespace

absl::Status RemoveIdentities(Graph& graph) {
  for (OpView op : graph.ops()) {
    const int operand = IdentityOperand(op);
    if (operand < 0) continue;
    graph.ReplaceAllUses(op.result(0).id(), op.operand(operand).id());
  }
  return absl::OkStatus();
}

}  // namespace partita
