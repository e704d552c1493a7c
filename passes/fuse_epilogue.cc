// Follows a convolution's or matmul's result as long as one elementwise op
// reads it.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fuse_epilogue.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/batch.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/make_fused.h"

namespace partita {
namespace {

// What the libraries apply to a result before they write it.
constexpr const OpDef* kActivations[] = {
    &kRelu,      &kClip, &kSigmoid, &kTanh, &kHardSigmoid,
    &kHardSwish, &kSilu, &kGelu,    &kElu,  &kLeakyRelu};
constexpr int kMaxEpilogue = 8;

// Not transposed convolutions, which apply nothing.
bool IsRoot(const OpView& op) { return op.is(kConv) || op.is(kMatmul); }

bool IsVariable(const ValueView& value) {
  const std::optional<OpView> maker = value.defining_op();
  return maker.has_value() && maker->op().traits.reads_variable;
}

// The operand of an add or mul that is not computed inside.
ValueView Other(const OpView& op, const ValueView& running) {
  return op.operand(op.operand(0).id() == running.id() ? 1 : 0);
}

// What only `op` computes with: elementwise fusion makes one walk over memory
// of both, while as an epilogue `op` would read again what the other has
// written.
bool IsWalkOfItsOwn(const ValueView& value) {
  const std::optional<OpView> maker = value.defining_op();
  return maker.has_value() && maker->op().traits.elementwise &&
         value.only_reader().has_value();
}

// True if `op` may join: `running` is the operand computed inside.
bool Joins(const OpView& op, const ValueView& running) {
  if (op.num_results() != 1 || op.result_type(0) != running.type()) {
    return false;
  }
  if (absl::c_linear_search(kActivations, &op.op())) return true;
  if (!op.is(kAdd) && !op.is(kMul)) return false;
  const ValueView other = Other(op, running);
  if (other.id() == running.id()) return false;
  if (other.is_constant() || IsVariable(other)) return true;
  return other.type() == running.type() && !IsWalkOfItsOwn(other);
}

// A bias or scale that is being trained. Behind it nothing joins: libraries'
// activations lose a NaN (docs/internals/numerics.md), by which training shows
// that it has diverged.
bool IsTrained(const OpView& op, const ValueView& running) {
  return op.num_operands() == 2 && IsVariable(Other(op, running));
}

// Every other operand must exist before the fused node does, which stands at
// the last member's place, so any operand of a member will do.
std::vector<NodeId> Chain(const OpView& root) {
  std::vector<NodeId> members = {root.id()};
  JointPlacement joint;
  joint.Admit(root.node());
  ValueView running = root.result(0);
  while (static_cast<int>(members.size()) <= kMaxEpilogue) {
    const std::optional<OpView> next = running.only_reader();
    if (!next.has_value() || !Joins(*next, running)) break;
    if (!joint.Admit(next->node())) break;
    members.push_back(next->id());
    if (IsTrained(*next, running)) break;
    running = next->result(0);
  }
  return members;
}

// The longest beginning of a chain that can still be divided as pins say: the
// channels of a grouped convolution are products, those of an activation not.
absl::Status KeepDivision(const Graph& graph, std::vector<NodeId>& chain) {
  while (chain.size() > 1) {
    PARTITA_ASSIGN_OR_RETURN(const bool keeps, KeepsDivision(graph, chain));
    if (keeps) break;
    chain.pop_back();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FuseEpilogue(Graph& graph,
                          absl::Span<const std::string> batch_inputs) {
  const std::vector<bool> sums =
      SumsOverBatch(graph, FindBatch(graph, batch_inputs));
  for (OpView op : graph.ops()) {
    // A residual of one convolution may be the result of the next, which the
    // first one's chain has then swallowed.
    if (!graph.alive(op.id()) || !IsRoot(op) || sums[op.id().index]) continue;
    std::vector<NodeId> members = Chain(op);
    PARTITA_RETURN_IF_ERROR(KeepDivision(graph, members));
    if (members.size() < 2) continue;
    PARTITA_RETURN_IF_ERROR(MakeFused(graph, members, op.id()).status());
  }
  return absl::OkStatus();
}

absl::Status FuseEpilogue(Graph& graph) {
  return FuseEpilogue(graph, /*batch_inputs=*/{});
}

}  // namespace partita
