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

// The ops that libraries apply to a result before they write it.
constexpr const OpDef* kActivations[] = {
    &kRelu,      &kClip, &kSigmoid, &kTanh, &kHardSigmoid,
    &kHardSwish, &kSilu, &kGelu,    &kElu,  &kLeakyRelu};
constexpr int kMaxEpilogue = 8;

// Not transposed convolutions, which have no epilogues.
bool IsRoot(const OpView& op) { return op.is(kConv) || op.is(kMatmul); }

bool IsVariable(const ValueView& value) {
  const std::optional<OpView> maker = value.defining_op();
  return maker.has_value() && maker->op().traits.reads_variable;
}

// The operand of an add or mul that comes from outside the fused node.
ValueView Other(const OpView& op, const ValueView& running) {
  return op.operand(op.operand(0).id() == running.id() ? 1 : 0);
}

// True for an elementwise result that only `op` reads. Elementwise fusion
// computes both in one pass over memory, while as an epilogue `op` would have
// to read that result again.
bool IsWalkOfItsOwn(const ValueView& value) {
  const std::optional<OpView> maker = value.defining_op();
  return maker.has_value() && maker->op().traits.elementwise &&
         value.only_reader().has_value();
}

// True if `op` may join; `running` is the operand computed inside.
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

// True for a trained bias or scale. Nothing may join after it: activations of
// libraries drop NaN (docs/internals/numerics.md), which shows that a training
// has diverged.
bool IsTrained(const OpView& op, const ValueView& running) {
  return op.num_operands() == 2 && IsVariable(Other(op, running));
}

// All other operands must be defined before the fused node. It is at the last
// of its nodes, so every operand of a node is.
std::vector<NodeId> Chain(const OpView& root) {
  std::vector<NodeId> nodes = {root.id()};
  JointPlacement joint;
  joint.Admit(root.node());
  ValueView running = root.result(0);
  while (static_cast<int>(nodes.size()) <= kMaxEpilogue) {
    const std::optional<OpView> next = running.only_reader();
    if (!next.has_value() || !Joins(*next, running)) break;
    if (!joint.Admit(next->node())) break;
    nodes.push_back(next->id());
    if (IsTrained(*next, running)) break;
    running = next->result(0);
  }
  return nodes;
}

// The longest prefix of a chain that can be sharded as pins say: the channels
// of a grouped convolution are a product of factors, those of an activation are
// not.
absl::Status KeepDivision(const Graph& graph, std::vector<NodeId>& chain) {
  while (chain.size() > 1) {
    PARTITA_ASSIGN_OR_RETURN(const bool keeps, KeepsDivision(graph, chain));
    if (keeps) break;
    chain.pop_back();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FuseEpilogue(Graph& graph, const PassContext& context) {
  const std::vector<bool> sums =
      SumsOverBatch(graph, FindBatch(graph, context.batch_inputs));
  for (OpView op : graph.ops()) {
    // A residual of one convolution may be the result of the next one, which is
    // then in the first one's chain.
    if (!graph.alive(op.id()) || !IsRoot(op) || sums[op.id().index]) continue;
    std::vector<NodeId> nodes = Chain(op);
    PARTITA_RETURN_IF_ERROR(KeepDivision(graph, nodes));
    if (nodes.size() < 2) continue;
    PARTITA_ASSIGN_OR_RETURN(const bool has_kernel,
                             HasKernel(graph, nodes, context));
    if (!has_kernel) continue;
    PARTITA_RETURN_IF_ERROR(MakeFused(graph, nodes, op.id()).status());
  }
  return absl::OkStatus();
}

absl::Status FuseEpilogue(Graph& graph) {
  return FuseEpilogue(graph, PassContext());
}

}  // namespace partita
