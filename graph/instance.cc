// Cutting values and nodes along the dimensions that their sharding names.
// SPDX-License-Identifier: Apache-2.0

#include "graph/instance.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

bool IsSplit(const Sharding& sharding) {
  return sharding.kind == Sharding::Kind::kSplit;
}

// Of a split value.
Interval ShareOf(const TensorType& whole, const Sharding& sharding, int member,
                 int members) {
  return MemberShare(whole.dims[sharding.dim], sharding.unit, member, members);
}

// Steps through the elements of `part`, which lies at `first` along `dim` of
// `whole`; calls visit(offset in part, offset in whole), in bytes.
template <typename Visitor>
void ForEachElement(const TensorType& part, const TensorType& whole, int dim,
                    int64_t first, Visitor visit) {
  const int64_t size = BitsOf(whole.dtype) / 8;
  Shape index(part.rank(), 0);
  for (int64_t i = 0; i < part.num_elements(); ++i) {
    Shape there = index;
    there[dim] += first;
    visit(size * PhysicalOffset(part.layout, part.dims, index),
          size * PhysicalOffset(whole.layout, whole.dims, there));
    for (int d = part.rank() - 1; d >= 0 && ++index[d] == part.dims[d]; --d) {
      index[d] = 0;
    }
  }
}

absl::Status CheckResults(const OpView& node, const Graph& piece,
                          const Node& made, int member, int members) {
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType expected = InstanceType(
        node.result_type(i), ShardingOf(node.node().placement.results, i),
        member, members);
    const TensorType& found = piece.type(made.results[i]);
    if (found.dims == expected.dims && found.dtype == expected.dtype) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(node.ToString(), ": found that member ", member,
                     " computes ", found.ToString(), "; expected ",
                     expected.ToString(), ", as its sharding says"));
  }
  return absl::OkStatus();
}

absl::Status HasNoPiece(const OpView& node) {
  return absl::UnimplementedError(absl::StrCat(
      node.ToString(),
      ": found a cut node whose rule has no factor there; "
      "expected a cut along a factor; compile with another strategy"));
}

absl::StatusOr<NodeSpec> PieceSpec(const OpView& node,
                                   const Placement& placement, int member,
                                   int members, ValueIds operands);

// The shardings of a body node whose operands are cut in this way.
Placement InsideBody(const OpView& op, const Placement& outer,
                     std::vector<Sharding> operands) {
  Placement placement{.devices = outer.devices,
                      .operands = std::move(operands)};
  const DimensionRule rule = op.op().dimension_rule(op);
  const std::optional<FactorCut> cut = CutOfNode(rule, placement);
  const int members = static_cast<int>(placement.devices.size());
  for (const DimensionRule::Dims& dims : rule.results) {
    placement.results.push_back(cut.has_value()
                                    ? ShardingUnder(rule, dims, *cut, members)
                                    : Sharding());
  }
  return placement;
}

// The member's part of a fused node's body.
absl::StatusOr<std::unique_ptr<Graph>> CutBody(const Graph& body,
                                               const Placement& outer,
                                               int member, int members) {
  auto piece = std::make_unique<Graph>(body.name(), &body.literals());
  std::vector<ValueId> twin(body.value_id_bound());
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const ValueId input = body.inputs()[i];
    twin[input.index] = piece->AddInput(
        body.value(input).name,
        InstanceType(body.type(input),
                     ShardingOf(outer.operands, static_cast<int>(i)), member,
                     members));
  }
  const std::vector<Placement> placements = BodyPlacements(body, outer);
  int next = 0;
  for (const OpView& op : body.ops()) {
    ValueIds operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(twin[operand.index]);
    }
    PARTITA_ASSIGN_OR_RETURN(NodeSpec spec,
                             PieceSpec(op, placements[next++], member, members,
                                       std::move(operands)));
    PARTITA_ASSIGN_OR_RETURN(const NodeId made,
                             piece->AddNode(std::move(spec)));
    for (int i = 0; i < op.num_results(); ++i) {
      twin[op.result(i).id().index] = piece->node(made).results[i];
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId output : body.outputs()) outputs.push_back(twin[output.index]);
  piece->SetOutputs(std::move(outputs), body.output_names());
  return piece;
}

// The member's node over its parts of the operands.
absl::StatusOr<NodeSpec> PieceSpec(const OpView& node,
                                   const Placement& placement, int member,
                                   int members, ValueIds operands) {
  const DimensionRule rule = node.op().dimension_rule(node);
  const std::optional<FactorCut> cut = CutOfNode(rule, placement);
  if (!cut.has_value() && (absl::c_any_of(placement.operands, IsSplit) ||
                           absl::c_any_of(placement.results, IsSplit))) {
    return HasNoPiece(node);
  }
  NodeSpec spec{.op = &node.op(),
                .operands = std::move(operands),
                .attributes = node.node().attributes,
                .scope = node.node().scope,
                .location = node.node().location};
  for (int i = 0; i < node.num_results(); ++i) {
    spec.result_names.push_back(node.result(i).name());
  }
  for (const auto& region : node.node().regions) {
    PARTITA_ASSIGN_OR_RETURN(spec.regions.emplace_back(),
                             CutBody(*region, placement, member, members));
  }
  if (cut.has_value() && node.op().piece_attributes != nullptr) {
    const Interval share =
        MemberShare(rule.factors[cut->factor].size, cut->unit, member, members);
    node.op().piece_attributes(node, cut->factor, share.begin, share.end,
                               spec.attributes);
  }
  return spec;
}

// Where the piece begins that the node makes in this micro-batch. What does not
// exist is refused when its type is inferred.
void MoveOrigin(const OpView& node, int micro_batch, Attributes& attributes) {
  if (!ChangesWithMicroBatch(node)) return;
  const std::vector<int64_t>& advance = node.attr_ints("advance");
  std::vector<int64_t> origin(advance.size(), 0);
  const AttributeValue* stored = attributes.Find("origin");
  if (stored != nullptr) origin = std::get<std::vector<int64_t>>(*stored);
  origin.resize(advance.size(), 0);
  for (size_t d = 0; d < advance.size(); ++d) {
    int64_t moved = 0;
    if (__builtin_mul_overflow(advance[d], micro_batch, &moved) ||
        __builtin_add_overflow(origin[d], moved, &origin[d])) {
      origin[d] = std::numeric_limits<int64_t>::max();
    }
  }
  attributes.Set("origin", origin);
}

// The sum so far, which the instance adds to.
void AddSumSoFar(const OpView& node, int member, int members, Graph& piece,
                 ValueIds& operands) {
  operands.push_back(piece.AddInput(
      "", InstanceType(node.result_type(0),
                       ShardingOf(node.node().placement.results, 0), member,
                       members)));
}

}  // namespace

Sharding ShardingOf(const std::vector<Sharding>& shardings, int i) {
  return i < static_cast<int>(shardings.size()) ? shardings[i] : Sharding();
}

TensorType InstanceType(const TensorType& whole, const Sharding& sharding,
                        int member, int members) {
  TensorType type = whole;
  if (IsSplit(sharding)) {
    type.dims[sharding.dim] = ShareOf(whole, sharding, member, members).size();
  }
  return type;
}

HostTensor CutInstance(const HostTensor& whole, const Sharding& sharding,
                       int member, int members) {
  if (!IsSplit(sharding)) return whole.Clone();
  HostTensor part(InstanceType(whole.type(), sharding, member, members));
  const int64_t size = BitsOf(whole.type().dtype) / 8;
  ForEachElement(part.type(), whole.type(), sharding.dim,
                 ShareOf(whole.type(), sharding, member, members).begin,
                 [&](int64_t to, int64_t from) {
                   std::memcpy(part.bytes() + to, whole.bytes() + from, size);
                 });
  return part;
}

HostTensor JoinInstances(const TensorType& whole, const Sharding& sharding,
                         const std::vector<const HostTensor*>& parts) {
  if (!IsSplit(sharding)) return parts.front()->Clone();
  HostTensor joined(whole);
  const int members = static_cast<int>(parts.size());
  const int64_t size = BitsOf(whole.dtype) / 8;
  for (int member = 0; member < members; ++member) {
    const HostTensor& part = *parts[member];
    ForEachElement(part.type(), whole, sharding.dim,
                   ShareOf(whole, sharding, member, members).begin,
                   [&](int64_t from, int64_t to) {
                     std::memcpy(joined.bytes() + to, part.bytes() + from,
                                 size);
                   });
  }
  return joined;
}

absl::StatusOr<HostTensor> FirstBytes(const OpView& node, int member,
                                      const HostTensor& literal) {
  const Placement& placement = node.node().placement;
  const int members = std::max(1, static_cast<int>(placement.devices.size()));
  const Sharding sharding = ShardingOf(placement.results, 0);
  const TensorType& type = node.result_type(0);
  if (literal.type() == InstanceType(type, sharding, member, members)) {
    return HostTensor::ConstView(literal.type(), literal.bytes());
  }
  if (literal.type().RowMajor() != type.RowMajor()) {
    return absl::InvalidArgumentError(absl::StrCat(
        node.ToString(), ": found first bytes of type ",
        literal.type().ToString(), "; expected ", type.ToString()));
  }
  HostTensor row_major(type.RowMajor());
  ConvertLayout(literal, row_major);
  HostTensor whole(type);
  ConvertLayout(row_major, whole);
  return CutInstance(whole, sharding, member, members);
}

std::vector<Placement> BodyPlacements(const Graph& body,
                                      const Placement& outer) {
  std::vector<Sharding> cut(body.value_id_bound());
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    cut[body.inputs()[i].index] =
        ShardingOf(outer.operands, static_cast<int>(i));
  }
  std::vector<Placement> placements;
  for (const OpView& op : body.ops()) {
    std::vector<Sharding> operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(cut[operand.index]);
    }
    placements.push_back(InsideBody(op, outer, std::move(operands)));
    for (int i = 0; i < op.num_results(); ++i) {
      cut[op.result(i).id().index] = placements.back().results[i];
    }
  }
  return placements;
}

bool IsCut(const OpView& node) {
  const Placement& placement = node.node().placement;
  for (const auto* shardings : {&placement.operands, &placement.results}) {
    if (absl::c_any_of(*shardings, IsSplit)) return true;
  }
  return false;
}

bool ChangesWithMicroBatch(const OpView& node) {
  return FindAttr(node.op(), "advance") != nullptr &&
         !node.attr_ints("advance").empty();
}

std::vector<bool> VaryingValues(const Graph& graph,
                                const std::vector<bool>& inputs) {
  std::vector<bool> varies(graph.value_id_bound(), false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    varies[graph.inputs()[i].index] = inputs[i];
  }
  for (const OpView& op : graph.ops()) {
    const bool differs =
        !op.is(kAccumulate) &&
        (ChangesWithMicroBatch(op) ||
         absl::c_any_of(op.node().operands, [&](ValueId operand) {
           return varies[operand.index];
         }));
    for (ValueId result : op.node().results) varies[result.index] = differs;
  }
  return varies;
}

bool HasOwnInstances(const OpView& node) {
  return IsCut(node) || node.is(kAccumulate) || ChangesWithMicroBatch(node);
}

absl::StatusOr<std::unique_ptr<Graph>> CutNode(const OpView& node, int member,
                                               int micro_batch) {
  const Placement& placement = node.node().placement;
  const int members = static_cast<int>(placement.devices.size());
  auto piece = std::make_unique<Graph>("piece", &node.graph().literals());
  ValueIds operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    operands.push_back(piece->AddInput(
        node.operand(i).name(),
        InstanceType(node.operand_type(i), ShardingOf(placement.operands, i),
                     member, members)));
  }
  if (node.is(kAccumulate) && micro_batch > 0) {
    AddSumSoFar(node, member, members, *piece, operands);
  }
  PARTITA_ASSIGN_OR_RETURN(
      NodeSpec spec,
      PieceSpec(node, placement, member, members, std::move(operands)));
  MoveOrigin(node, micro_batch, spec.attributes);
  PARTITA_ASSIGN_OR_RETURN(const NodeId id, piece->AddNode(std::move(spec)));
  Node& made = piece->node(id);
  PARTITA_RETURN_IF_ERROR(CheckResults(node, *piece, made, member, members));
  for (int i = 0; i < node.num_results(); ++i) {
    piece->value(made.results[i]).type.layout = node.result_type(i).layout;
  }
  made.kernel = node.node().kernel;
  return piece;
}

}  // namespace partita
