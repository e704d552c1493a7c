// Cutting values and nodes along the dimensions that their sharding names.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/instance.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

int64_t Begin(int64_t extent, int member, int members) {
  return member * extent / members;
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

// The factor that the node's shardings cut, or -1.
int CutFactor(const OpView& node, const DimensionRule& rule) {
  const Placement& placement = node.node().placement;
  const auto find = [](const std::vector<Sharding>& shardings,
                       const std::vector<DimensionRule::Dims>& dims) {
    for (size_t i = 0; i < shardings.size() && i < dims.size(); ++i) {
      if (shardings[i].kind != Sharding::Kind::kSplit) continue;
      const auto& factors = dims[i][shardings[i].dim];
      if (!factors.empty()) return factors.front();
    }
    return -1;
  };
  const int factor = find(placement.results, rule.results);
  return factor >= 0 ? factor : find(placement.operands, rule.operands);
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

}  // namespace

Sharding ShardingOf(const std::vector<Sharding>& shardings, int i) {
  return i < static_cast<int>(shardings.size()) ? shardings[i] : Sharding();
}

TensorType InstanceType(const TensorType& whole, const Sharding& sharding,
                        int member, int members) {
  TensorType type = whole;
  if (sharding.kind == Sharding::Kind::kSplit) {
    const int64_t extent = whole.dims[sharding.dim];
    type.dims[sharding.dim] =
        Begin(extent, member + 1, members) - Begin(extent, member, members);
  }
  return type;
}

HostTensor CutInstance(const HostTensor& whole, const Sharding& sharding,
                       int member, int members) {
  if (sharding.kind != Sharding::Kind::kSplit) return whole.Clone();
  HostTensor part(InstanceType(whole.type(), sharding, member, members));
  const int dim = sharding.dim;
  const int64_t size = BitsOf(whole.type().dtype) / 8;
  ForEachElement(part.type(), whole.type(), dim,
                 Begin(whole.type().dims[dim], member, members),
                 [&](int64_t to, int64_t from) {
                   std::memcpy(part.bytes() + to, whole.bytes() + from, size);
                 });
  return part;
}

HostTensor JoinInstances(const TensorType& whole, const Sharding& sharding,
                         const std::vector<const HostTensor*>& parts) {
  if (sharding.kind != Sharding::Kind::kSplit) return parts.front()->Clone();
  HostTensor joined(whole);
  const int members = static_cast<int>(parts.size());
  const int dim = sharding.dim;
  const int64_t size = BitsOf(whole.dtype) / 8;
  for (int member = 0; member < members; ++member) {
    const HostTensor& part = *parts[member];
    ForEachElement(
        part.type(), whole, dim, Begin(whole.dims[dim], member, members),
        [&](int64_t from, int64_t to) {
          std::memcpy(joined.bytes() + to, part.bytes() + from, size);
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

bool IsCut(const OpView& node) {
  const Placement& placement = node.node().placement;
  for (const auto* shardings : {&placement.operands, &placement.results}) {
    for (const Sharding& sharding : *shardings) {
      if (sharding.kind == Sharding::Kind::kSplit) return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Graph>> CutNode(const OpView& node, int member) {
  const Placement& placement = node.node().placement;
  const int members = static_cast<int>(placement.devices.size());
  const DimensionRule rule = node.op().dimension_rule(node);
  const int factor = CutFactor(node, rule);
  if (factor < 0 || !node.node().regions.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        node.ToString(), ": found a cut node ",
        factor < 0 ? "whose rule has no factor there" : "with a body",
        "; expected one without; compile with another strategy"));
  }
  auto piece = std::make_unique<Graph>("piece", &node.graph().literals());
  NodeSpec spec{.op = &node.op(),
                .attributes = node.node().attributes,
                .scope = node.node().scope,
                .location = node.node().location};
  for (int i = 0; i < node.num_operands(); ++i) {
    spec.operands.push_back(piece->AddInput(
        node.operand(i).name(),
        InstanceType(node.operand_type(i), ShardingOf(placement.operands, i),
                     member, members)));
  }
  for (int i = 0; i < node.num_results(); ++i) {
    spec.result_names.push_back(node.result(i).name());
  }
  if (node.op().piece_attributes != nullptr) {
    const int64_t size = rule.factors[factor].size;
    node.op().piece_attributes(node, factor, Begin(size, member, members),
                               Begin(size, member + 1, members),
                               spec.attributes);
  }
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
