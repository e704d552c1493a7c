// Makes shards of values and nodes along the dimensions of their shardings.
// SPDX-License-Identifier: Apache-2.0

#include "graph/shard.h"

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

// The rank's interval of the split dimension.
Interval IntervalOf(const TensorType& whole, const Sharding& sharding, int rank,
                    int ranks) {
  return RankInterval(whole.dims[sharding.dim], sharding.unit, rank, ranks);
}

// Visits the elements of `shard`, which begins at `first` along `dim` of
// `whole`: visit(offset in shard, offset in whole), in bytes.
template <typename Visitor>
void ForEachElement(const TensorType& shard, const TensorType& whole, int dim,
                    int64_t first, Visitor visit) {
  const int64_t size = BitsOf(whole.dtype) / 8;
  Shape index(shard.rank(), 0);
  for (int64_t i = 0; i < shard.num_elements(); ++i) {
    Shape there = index;
    there[dim] += first;
    visit(size * PhysicalOffset(shard.layout, shard.dims, index),
          size * PhysicalOffset(whole.layout, whole.dims, there));
    for (int d = shard.rank() - 1; d >= 0 && ++index[d] == shard.dims[d]; --d) {
      index[d] = 0;
    }
  }
}

absl::Status CheckResults(const OpView& node, const Placement& placement,
                          const Graph& shard, const Node& made, int rank) {
  const int ranks = static_cast<int>(placement.devices.size());
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType expected = ShardType(
        node.result_type(i), ShardingOf(placement.results, i), rank, ranks);
    const TensorType& found = shard.type(made.results[i]);
    if (found.dims == expected.dims && found.dtype == expected.dtype) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(node.ToString(), ": found that rank ", rank, " computes ",
                     found.ToString(), "; expected ", expected.ToString(),
                     ", as its sharding says"));
  }
  return absl::OkStatus();
}

bool HasSplit(const Placement& placement) {
  return absl::c_any_of(placement.operands, IsSplit) ||
         absl::c_any_of(placement.results, IsSplit);
}

absl::Status HasNoShard(const OpView& node) {
  return absl::UnimplementedError(absl::StrCat(
      node.ToString(),
      ": found a split that is along no factor of its dimension rule; "
      "expected a split along a factor; compile with another strategy"));
}

absl::StatusOr<NodeSpec> ShardSpec(const OpView& node,
                                   const Placement& placement, int rank,
                                   int ranks, ValueIds operands);

// The placement of a body node with these shardings of its operands.
Placement InsideBody(const OpView& op, const Placement& outer,
                     std::vector<Sharding> operands) {
  Placement placement{.devices = outer.devices,
                      .operands = std::move(operands)};
  const DimensionRule rule = op.op().dimension_rule(op);
  const std::optional<FactorSharding> sharding =
      FactorShardingOfNode(rule, placement);
  const int ranks = static_cast<int>(placement.devices.size());
  for (const DimensionRule::Dims& dims : rule.results) {
    placement.results.push_back(
        sharding.has_value() ? ShardingUnder(rule, dims, *sharding, ranks)
                             : Sharding());
  }
  return placement;
}

// The rank's shard of a fused node's body.
absl::StatusOr<std::unique_ptr<Graph>> ShardBody(const Graph& body,
                                                 const Placement& outer,
                                                 int rank, int ranks) {
  auto shard = std::make_unique<Graph>(body.name(), &body.literals());
  std::vector<ValueId> twin(body.value_id_bound());
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const ValueId input = body.inputs()[i];
    twin[input.index] = shard->AddInput(
        body.value(input).name,
        ShardType(body.type(input),
                  ShardingOf(outer.operands, static_cast<int>(i)), rank,
                  ranks));
  }
  const std::vector<Placement> placements = BodyPlacements(body, outer);
  int next = 0;
  for (const OpView& op : body.ops()) {
    ValueIds operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(twin[operand.index]);
    }
    PARTITA_ASSIGN_OR_RETURN(
        NodeSpec spec,
        ShardSpec(op, placements[next++], rank, ranks, std::move(operands)));
    PARTITA_ASSIGN_OR_RETURN(const NodeId made,
                             shard->AddNode(std::move(spec)));
    for (int i = 0; i < op.num_results(); ++i) {
      twin[op.result(i).id().index] = shard->node(made).results[i];
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId output : body.outputs()) outputs.push_back(twin[output.index]);
  shard->SetOutputs(std::move(outputs), body.output_names());
  return shard;
}

void SetShardAttributes(const OpView& node, const DimensionRule& rule,
                        const FactorSharding& sharding, int rank, int ranks,
                        Attributes& attributes) {
  if (node.op().shard_attributes == nullptr) return;
  const Interval interval = RankInterval(rule.factors[sharding.factor].size,
                                         sharding.unit, rank, ranks);
  node.op().shard_attributes(node, sharding.factor, interval.begin,
                             interval.end, attributes);
}

// The rank's node over its shards of the operands.
absl::StatusOr<NodeSpec> ShardSpec(const OpView& node,
                                   const Placement& placement, int rank,
                                   int ranks, ValueIds operands) {
  const DimensionRule rule = node.op().dimension_rule(node);
  const std::optional<FactorSharding> sharding =
      FactorShardingOfNode(rule, placement);
  if (!sharding.has_value() && HasSplit(placement)) return HasNoShard(node);
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
                             ShardBody(*region, placement, rank, ranks));
  }
  if (sharding.has_value()) {
    SetShardAttributes(node, rule, *sharding, rank, ranks, spec.attributes);
  }
  return spec;
}

// Sets the origin of the node's shard in this micro-batch. An overflow gives an
// origin that type inference refuses.
void MoveOrigin(const OpView& node, MicroBatchId micro_batch,
                Attributes& attributes) {
  if (!ChangesWithMicroBatch(node)) return;
  const std::vector<int64_t>& advance = node.attr_ints("advance");
  std::vector<int64_t> origin(advance.size(), 0);
  const AttributeValue* stored = attributes.Find("origin");
  if (stored != nullptr) origin = std::get<std::vector<int64_t>>(*stored);
  origin.resize(advance.size(), 0);
  for (size_t d = 0; d < advance.size(); ++d) {
    int64_t moved = 0;
    if (__builtin_mul_overflow(advance[d], micro_batch.index, &moved) ||
        __builtin_add_overflow(origin[d], moved, &origin[d])) {
      origin[d] = std::numeric_limits<int64_t>::max();
    }
  }
  attributes.Set("origin", origin);
}

// Adds the sum so far as an operand.
void AddSumSoFar(const OpView& node, const Placement& placement, int rank,
                 Graph& shard, ValueIds& operands) {
  operands.push_back(shard.AddInput(
      "", ShardType(node.result_type(0), ShardingOf(placement.results, 0), rank,
                    static_cast<int>(placement.devices.size()))));
}

// True if all ranks have shards of equal extents.
bool HasEqualExtents(const OpView& node, const Placement& placement) {
  const int ranks = static_cast<int>(placement.devices.size());
  const auto is_equal = [&](const TensorType& whole, const Sharding& sharding) {
    return !IsSplit(sharding) ||
           whole.dims[sharding.dim] / sharding.unit % ranks == 0;
  };
  for (int i = 0; i < node.num_operands(); ++i) {
    if (!is_equal(node.operand_type(i), ShardingOf(placement.operands, i))) {
      return false;
    }
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (!is_equal(node.result_type(i), ShardingOf(placement.results, i))) {
      return false;
    }
  }
  return true;
}

// True if a node of a body has attributes that may depend on the rank.
bool HasShardAttributesInside(const OpView& node) {
  return absl::c_any_of(node.node().regions, [](const auto& body) {
    return absl::c_any_of(body->ops(), [](const OpView& op) {
      return op.op().shard_attributes != nullptr ||
             HasShardAttributesInside(op);
    });
  });
}

}  // namespace

Sharding ShardingOf(const std::vector<Sharding>& shardings, int i) {
  return i < static_cast<int>(shardings.size()) ? shardings[i] : Sharding();
}

TensorType ShardType(const TensorType& whole, const Sharding& sharding,
                     int rank, int ranks) {
  TensorType type = whole;
  if (IsSplit(sharding)) {
    type.dims[sharding.dim] = IntervalOf(whole, sharding, rank, ranks).size();
  }
  return type;
}

HostTensor ShardOf(const HostTensor& whole, const Sharding& sharding, int rank,
                   int ranks) {
  if (!IsSplit(sharding)) return whole.Clone();
  HostTensor shard(ShardType(whole.type(), sharding, rank, ranks));
  const int64_t size = BitsOf(whole.type().dtype) / 8;
  ForEachElement(shard.type(), whole.type(), sharding.dim,
                 IntervalOf(whole.type(), sharding, rank, ranks).begin,
                 [&](int64_t to, int64_t from) {
                   std::memcpy(shard.bytes() + to, whole.bytes() + from, size);
                 });
  return shard;
}

HostTensor JoinShards(const TensorType& whole, const Sharding& sharding,
                      const std::vector<const HostTensor*>& shards) {
  if (!IsSplit(sharding)) return shards.front()->Clone();
  HostTensor whole_tensor(whole);
  const int ranks = static_cast<int>(shards.size());
  const int64_t size = BitsOf(whole.dtype) / 8;
  for (int rank = 0; rank < ranks; ++rank) {
    const HostTensor& shard = *shards[rank];
    ForEachElement(shard.type(), whole, sharding.dim,
                   IntervalOf(whole, sharding, rank, ranks).begin,
                   [&](int64_t from, int64_t to) {
                     std::memcpy(whole_tensor.bytes() + to,
                                 shard.bytes() + from, size);
                   });
  }
  return whole_tensor;
}

absl::StatusOr<HostTensor> FirstBytes(const OpView& node, int rank,
                                      const HostTensor& literal) {
  const Placement& placement = node.node().placement;
  const int ranks = std::max(1, static_cast<int>(placement.devices.size()));
  const Sharding sharding = ShardingOf(placement.results, 0);
  const TensorType& type = node.result_type(0);
  if (literal.type() == ShardType(type, sharding, rank, ranks)) {
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
  return ShardOf(whole, sharding, rank, ranks);
}

std::vector<Placement> BodyPlacements(const Graph& body,
                                      const Placement& outer) {
  std::vector<Sharding> shardings(body.value_id_bound());
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    shardings[body.inputs()[i].index] =
        ShardingOf(outer.operands, static_cast<int>(i));
  }
  std::vector<Placement> placements;
  for (const OpView& op : body.ops()) {
    std::vector<Sharding> operands;
    for (ValueId operand : op.node().operands) {
      operands.push_back(shardings[operand.index]);
    }
    placements.push_back(InsideBody(op, outer, std::move(operands)));
    for (int i = 0; i < op.num_results(); ++i) {
      shardings[op.result(i).id().index] = placements.back().results[i];
    }
  }
  return placements;
}

bool IsSharded(const OpView& node) { return HasSplit(node.node().placement); }

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

bool HasOwnShards(const OpView& node) {
  return HasOwnShards(node, node.node().placement);
}

bool HasOwnShards(const OpView& node, const Placement& placement) {
  return HasSplit(placement) || node.is(kAccumulate) ||
         ChangesWithMicroBatch(node);
}

absl::StatusOr<std::unique_ptr<Graph>> ShardOfNode(const OpView& node, int rank,
                                                   MicroBatchId micro_batch) {
  return ShardOfNode(node, node.node().placement, rank, micro_batch);
}

absl::StatusOr<std::unique_ptr<Graph>> ShardOfNode(const OpView& node,
                                                   const Placement& placement,
                                                   int rank,
                                                   MicroBatchId micro_batch) {
  const int ranks = static_cast<int>(placement.devices.size());
  auto shard = std::make_unique<Graph>("shard", &node.graph().literals());
  ValueIds operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    operands.push_back(shard->AddInput(
        node.operand(i).name(),
        ShardType(node.operand_type(i), ShardingOf(placement.operands, i), rank,
                  ranks)));
  }
  if (node.is(kAccumulate) && micro_batch > kFirstMicroBatch) {
    AddSumSoFar(node, placement, rank, *shard, operands);
  }
  PARTITA_ASSIGN_OR_RETURN(
      NodeSpec spec,
      ShardSpec(node, placement, rank, ranks, std::move(operands)));
  MoveOrigin(node, micro_batch, spec.attributes);
  PARTITA_ASSIGN_OR_RETURN(const NodeId id, shard->AddNode(std::move(spec)));
  Node& made = shard->node(id);
  PARTITA_RETURN_IF_ERROR(CheckResults(node, placement, *shard, made, rank));
  for (int i = 0; i < node.num_results(); ++i) {
    shard->value(made.results[i]).type.layout = node.result_type(i).layout;
  }
  made.kernel = node.node().kernel;
  return shard;
}

std::vector<bool> RanksWithOtherShards(const OpView& node,
                                       const Placement& placement) {
  const int ranks = static_cast<int>(placement.devices.size());
  if (!HasEqualExtents(node, placement) || HasShardAttributesInside(node)) {
    return std::vector<bool>(ranks, true);
  }
  std::vector<bool> others(ranks, false);
  if (ranks > 0) others[0] = true;
  const DimensionRule rule = node.op().dimension_rule(node);
  const std::optional<FactorSharding> sharding =
      FactorShardingOfNode(rule, placement);
  if (!sharding.has_value() || node.op().shard_attributes == nullptr) {
    return others;
  }
  Attributes before;
  for (int rank = 0; rank < ranks; ++rank) {
    Attributes here = node.node().attributes;
    SetShardAttributes(node, rule, *sharding, rank, ranks, here);
    others[rank] = rank == 0 || !(here == before);
    before = std::move(here);
  }
  return others;
}

}  // namespace partita
