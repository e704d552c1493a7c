// Independent simplifications, one after the other.
// SPDX-License-Identifier: Apache-2.0

#include "passes/simplify_attention.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/attention_dims.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

constexpr int kMask = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A new node before the attention, with its scope and location.
absl::StatusOr<ValueId> AddBefore(Graph& graph, const OpView& op,
                                  const OpDef& added, ValueIds operands,
                                  Attributes attributes) {
  return graph.AddValue(SpecLike(op, op.node().placement, added,
                                 std::move(operands), std::move(attributes)),
                        op.id());
}

// Gives the attention the joint placement with the node that it absorbs. False
// if their pins differ.
bool Join(Graph& graph, const OpView& op, const std::vector<OpView>& taken) {
  JointPlacement joint;
  bool admitted = joint.Admit(op.node());
  for (const OpView& member : taken) admitted &= joint.Admit(member.node());
  if (!admitted || joint.is_sharded()) return false;
  graph.node(op.id()).placement = joint.get();
  return true;
}

// --- repeated heads ---

// x of reshape(expand(x as [n, heads, 1, positions, size])).
struct Repeated {
  ValueId x;
  Shape dims;
  int64_t times;
  std::vector<OpView> ops;
};
std::optional<Repeated> RepeatedHeads(const ValueView& value) {
  const std::optional<OpView> reshape = MadeBy(value, kReshape);
  const std::optional<OpView> expand =
      reshape.has_value() ? MadeBy(reshape->operand(0), kExpand) : std::nullopt;
  if (!expand.has_value() || expand->operand_type(0).rank() != 5) {
    return std::nullopt;
  }
  const Shape& once = expand->operand_type(0).dims;
  const Shape& all = expand->result_type(0).dims;
  const Shape dims = {once[0], once[1], once[3], once[4]};
  const Shape whole = {all[0], all[1] * all[2], all[3], all[4]};
  if (once[2] != 1 || Shape{all[0], all[1], all[3], all[4]} != dims ||
      value.type().dims != whole) {
    return std::nullopt;
  }
  Repeated repeated = {
      expand->operand(0).id(), dims, all[2], {*reshape, *expand}};
  const std::optional<OpView> inner = MadeBy(expand->operand(0), kReshape);
  if (inner.has_value()) {
    repeated.x = inner->operand(0).id();
    repeated.ops.push_back(*inner);
  }
  return repeated;
}

absl::Status ReadOnce(Graph& graph, const OpView& op) {
  if (op.attr_bool("positions_first")) return absl::OkStatus();
  std::vector<Repeated> repeated;
  std::vector<OpView> taken;
  for (int i : {1, 2}) {
    const std::optional<Repeated> found = RepeatedHeads(op.operand(i));
    if (!found.has_value()) return absl::OkStatus();
    taken.insert(taken.end(), found->ops.begin(), found->ops.end());
    repeated.push_back(*found);
  }
  if (repeated[0].times != repeated[1].times || !Join(graph, op, taken)) {
    return absl::OkStatus();
  }
  for (int i : {1, 2}) {
    ValueId x = repeated[i - 1].x;
    const Shape& dims = repeated[i - 1].dims;
    if (graph.type(x).dims != dims) {
      PARTITA_ASSIGN_OR_RETURN(
          x, AddBefore(
                 graph, op, kReshape, {x},
                 {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}}));
    }
    graph.SetOperand(op.id(), i, x);
  }
  return absl::OkStatus();
}

// --- masks ---

// The order of a constant mask, if it is the same for every sample and head:
// the first query sees the keys before `first`, and each later query one more.
// `shows` interprets an element.
template <typename Shows>
std::optional<int64_t> FirstShown(const ValueView& mask, const AttentionDims& d,
                                  const Shows& shows) {
  const int64_t count = mask.type().num_elements();
  const Shape& dims = mask.type().dims;
  const size_t rank = dims.size();
  if (!mask.is_constant() || rank < 2 || dims[rank - 1] != d.keys ||
      dims[rank - 2] != d.queries || count == 0) {
    return std::nullopt;
  }
  const HostTensor& elements = *mask.constant();
  int64_t first = 0;
  while (first < d.keys && shows(GetAsDouble(elements, first))) ++first;
  if (first == 0) return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key = i % d.keys, query = i / d.keys % d.queries;
    if (shows(GetAsDouble(elements, i)) != (key < first + query)) {
      return std::nullopt;
    }
  }
  return first;
}

// A mask as a condition that shows or hides keys, and the number that is added
// to hidden scores.
struct Condition {
  ValueView value;
  bool shows;
  double hidden;
  OpView where;
};
std::optional<Condition> ConditionOf(const ValueView& mask) {
  const std::optional<OpView> where = MadeBy(mask, kWhere);
  if (!where.has_value()) return std::nullopt;
  for (int shown : {1, 2}) {
    const std::optional<double> hidden = NumberIn(where->operand(3 - shown));
    if (NumberIn(where->operand(shown)) == 0.0 && hidden.has_value() &&
        Hides(*hidden)) {
      return Condition{where->operand(0), shown == 1, *hidden, *where};
    }
  }
  return std::nullopt;
}

// A mask's order, and the optional rest of the condition.
struct Ordered {
  int64_t first;
  std::optional<ValueId> rest;
  std::vector<OpView> taken;
};

// The order in a condition on positions, which may be combined with another
// condition if it is true for earlier positions.
std::optional<Ordered> OrderIn(const Condition& condition,
                               const AttentionDims& d) {
  const auto first = [&](const ValueView& value) {
    return FirstShown(value, d, [&](double element) {
      return (element != 0) == condition.shows;
    });
  };
  if (const auto alone = first(condition.value)) {
    return Ordered{*alone, std::nullopt, {condition.where}};
  }
  const std::optional<OpView> both = MadeBy(condition.value, kAnd);
  if (!both.has_value() || !condition.shows || condition.hidden != -kInfinity) {
    return std::nullopt;
  }
  for (int side : {0, 1}) {
    if (const auto beside = first(both->operand(side))) {
      return Ordered{
          *beside, both->operand(1 - side).id(), {condition.where, *both}};
    }
  }
  return std::nullopt;
}

std::optional<Ordered> OrderOf(const ValueView& mask, const AttentionDims& d) {
  if (const std::optional<Condition> condition = ConditionOf(mask)) {
    return OrderIn(*condition, d);
  }
  bool plain = true;  // every element is 0 or hides a key
  const std::optional<int64_t> first =
      FirstShown(mask, d, [&plain](double added) {
        plain &= added == 0 || Hides(added);
        return added == 0;
      });
  if (!first.has_value() || !plain) return std::nullopt;
  return Ordered{*first, std::nullopt, {*mask.defining_op()}};
}

// The attention's operands with the rest of its mask.
absl::StatusOr<ValueIds> WithRest(Graph& graph, const OpView& op,
                                  const Ordered& ordered) {
  ValueIds operands = op.node().operands;
  operands.resize(kMask);
  if (!ordered.rest.has_value()) return operands;
  const OpView where = ordered.taken[0];
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId rest,
      AddBefore(graph, op, kWhere,
                {*ordered.rest, where.operand(1).id(), where.operand(2).id()},
                {}));
  operands.push_back(rest);
  return operands;
}

// A new attention that replaces `op`.
absl::StatusOr<ValueId> AddAttention(Graph& graph, const OpView& op,
                                     ValueIds operands, Attributes attributes) {
  PARTITA_ASSIGN_OR_RETURN(const ValueId result,
                           AddBefore(graph, op, kAttention, std::move(operands),
                                     std::move(attributes)));
  graph.value(result).name = op.result(0).name();
  return result;
}

// Makes the mask's order attributes.
absl::Status TakeOrder(Graph& graph, const OpView& op) {
  if (op.num_operands() <= kMask || op.attr_bool("causal")) {
    return absl::OkStatus();
  }
  const AttentionDims d(op);
  const std::optional<Ordered> ordered = OrderOf(op.operand(kMask), d);
  if (!ordered.has_value() || !Join(graph, op, ordered->taken)) {
    return absl::OkStatus();
  }
  Attributes attributes = op.node().attributes;
  if (ordered->first < d.keys) {
    attributes.Set("causal", true);
    attributes.Set("past", ordered->first - 1);
  }
  PARTITA_ASSIGN_OR_RETURN(ValueIds operands, WithRest(graph, op, *ordered));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId result,
      AddAttention(graph, op, std::move(operands), std::move(attributes)));
  graph.ReplaceAllUses(op.result(0).id(), result);
  graph.Erase(op.id());
  return absl::OkStatus();
}

// --- positions before heads ---

bool SwapsHeads(const OpView& transpose) {
  return transpose.attr_ints("perm") == std::vector<int64_t>{0, 2, 1, 3};
}

// Makes readers that swap heads and positions back read `attended`.
void CancelReaders(Graph& graph, ValueId result, ValueId attended) {
  const OpView attention = graph.view(graph.value(attended).defining_node);
  const auto uses = graph.value(result).uses;
  for (const Use& use : uses) {
    const OpView reader = graph.view(use.node);
    if (!reader.is(kTranspose) || !SwapsHeads(reader) ||
        !Join(graph, attention, {reader})) {
      continue;
    }
    graph.ReplaceAllUses(reader.result(0).id(), attended);
  }
}

absl::Status ReadPositionsFirst(Graph& graph, const OpView& op) {
  if (op.attr_bool("positions_first")) return absl::OkStatus();
  std::vector<OpView> transposes;
  for (int i = 0; i < 3; ++i) {
    const std::optional<OpView> made = MadeBy(op.operand(i), kTranspose);
    if (!made.has_value() || !SwapsHeads(*made)) return absl::OkStatus();
    transposes.push_back(*made);
  }
  if (!Join(graph, op, transposes)) return absl::OkStatus();
  ValueIds operands = op.node().operands;
  for (int i = 0; i < 3; ++i) operands[i] = transposes[i].operand(0).id();
  Attributes attributes = op.node().attributes;
  attributes.Set("positions_first", true);
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId attended,
      AddAttention(graph, op, std::move(operands), std::move(attributes)));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId result,
      AddBefore(graph, op, kTranspose, {attended},
                {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
  graph.ReplaceAllUses(op.result(0).id(), result);
  CancelReaders(graph, result, attended);
  if (!graph.value(result).uses.empty() || graph.is_output(result)) {
    std::swap(graph.value(result).name, graph.value(attended).name);
  }
  graph.Erase(op.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status SimplifyAttention(Graph& graph) {
  for (OpView op : graph.ops(kAttention)) {
    PARTITA_RETURN_IF_ERROR(ReadOnce(graph, op));
  }
  for (OpView op : graph.ops(kAttention)) {
    PARTITA_RETURN_IF_ERROR(TakeOrder(graph, op));
  }
  for (OpView op : graph.ops(kAttention)) {
    PARTITA_RETURN_IF_ERROR(ReadPositionsFirst(graph, op));
  }
  return absl::OkStatus();
}

}  // namespace partita
