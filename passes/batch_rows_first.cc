// Follows the batch, and rows that include it, by dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "passes/batch_rows_first.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/batch.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/matching.h"

namespace partita {
namespace {

constexpr int kNone = -1;

// The batch of a value: along `dim`, as rows of `outer` x batch if `outer` is
// more than 1. Values of one `group` change together.
struct Rows {
  int dim = kNone;
  int64_t outer = 1;
  int group = kNone;

  bool merged() const { return outer > 1; }
};

// A reshape. One side has the batch at `dim`, and the other merges it with the
// dimensions [first, dim) before it.
struct Merge {
  int first = 0;
  int dim = 0;
  int64_t outer = 1;
};

int64_t OuterExtent(const Shape& dims, int first, int dim) {
  return std::accumulate(dims.begin() + first, dims.begin() + dim, int64_t{1},
                         std::multiplies<>());
}

// The position in `product` of the whole dimension `dims[dim]`, or kNone.
int PositionOf(const absl::InlinedVector<int, 2>& product,
               const DimensionRule::Dims& dims, int dim) {
  if (dims[dim].size() != 1) return kNone;
  const auto at = absl::c_find(product, dims[dim].front());
  return at == product.end() ? kNone : static_cast<int>(at - product.begin());
}

// `apart` is the side with the batch along `dim`; `merged` has the dimensions
// of the other side.
std::optional<Merge> MergeOf(const DimensionRule::Dims& apart,
                             const DimensionRule::Dims& merged,
                             const Shape& dims, int dim, int& merged_dim) {
  for (size_t d = 0; d < merged.size(); ++d) {
    const int at = PositionOf(merged[d], apart, dim);
    if (at <= 0) continue;
    int first = dim;
    int position = at;
    while (first > 0 && position > 0) {
      --first;
      if (apart[first].empty()) continue;  // of extent 1
      if (PositionOf(merged[d], apart, first) != --position) {
        return std::nullopt;
      }
    }
    if (position != 0) return std::nullopt;
    merged_dim = static_cast<int>(d);
    return Merge{first, dim, OuterExtent(dims, first, dim)};
  }
  return std::nullopt;
}

// The permutation that moves dimension `from` to position `to`.
std::vector<int64_t> Moved(int rank, int from, int to) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  perm.erase(perm.begin() + from);
  perm.insert(perm.begin() + to, from);
  return perm;
}

class BatchRows {
 public:
  BatchRows(Graph& graph, const Batch& batch) : graph_(graph), batch_(batch) {}

  // A group of rows changes as a whole or not at all: if one of its rows
  // reaches a node that depends on their order, none may change. Leaving a
  // group out can change what others see, so this repeats until nothing more is
  // left out.
  absl::Status Run() {
    do {
      Follow();
    } while (LeaveOut());
    for (const auto& [node, merge] : merges_) {
      PARTITA_RETURN_IF_ERROR(PutBatchFirst(node, merge));
    }
    for (const auto& [node, merge] : splits_) {
      PARTITA_RETURN_IF_ERROR(PutBatchBack(node, merge));
    }
    return absl::OkStatus();
  }

 private:
  using Found = std::vector<std::pair<NodeId, Merge>>;

  void Follow() {
    rows_.assign(graph_.value_id_bound(), Rows());
    excluded_.resize(graph_.node_id_bound(), false);
    merges_.clear();
    splits_.clear();
    same_as_.clear();
    faulty_.clear();
    for (size_t i = 0; i < batch_.inputs.size(); ++i) {
      if (batch_.inputs[i]) rows_[graph_.inputs()[i].index].dim = 0;
    }
    for (const OpView& op : graph_.ops()) FollowThrough(op);
    for (ValueId output : graph_.outputs()) Refuse(output);
    for (const VariableUpdate& update : graph_.updates()) Refuse(update.value);
  }

  // Merged rows end here.
  void Refuse(ValueId value) {
    const Rows& rows = rows_[value.index];
    if (rows.merged()) faulty_[GroupFor(rows.group)] = true;
  }

  void RefuseOperands(const OpView& op) {
    for (int i = 0; i < op.num_operands(); ++i) Refuse(op.operand(i).id());
  }

  // The first operand with merged rows or, without one, with the batch; or
  // kNone.
  int Leading(const OpView& op) const {
    int leading = kNone;
    for (int i = 0; i < op.num_operands(); ++i) {
      const Rows& rows = rows_[op.operand(i).id().index];
      if (rows.merged()) return i;
      if (rows.dim != kNone && leading == kNone) leading = i;
    }
    return leading;
  }

  void FollowThrough(const OpView& op) {
    const int leading = Leading(op);
    if (leading == kNone) return;
    const Rows rows = rows_[op.operand(leading).id().index];
    if (op.op().dimension_rule == nullptr) return RefuseOperands(op);
    const DimensionRule rule = op.op().dimension_rule(op);
    const auto& product = rule.operands[leading][rows.dim];
    if (op.is(kReshape) && FollowReshape(op, rule, rows)) return;
    if (product.empty()) return RefuseOperands(op);
    if (rows.merged() && !KeepsRows(op, rule, leading, rows)) {
      return RefuseOperands(op);
    }
    const int factor = product.front();
    for (int i = 0; i < op.num_results(); ++i) {
      Rows& result = rows_[op.result(i).id().index];
      result = rows;
      result.dim = DimensionOf(rule.results[i], factor);
      if (result.dim == kNone) result = Rows();
    }
  }

  // True if the node's result for a row does not depend on the row's position,
  // and all operands have the rows in one order.
  bool KeepsRows(const OpView& op, const DimensionRule& rule, int leading,
                 const Rows& rows) {
    const auto& product = rule.operands[leading][rows.dim];
    if (product.size() != 1 || FindAttr(op.op(), "origin") != nullptr) {
      return false;
    }
    const int factor = product.front();
    const Factor::Kind kind = rule.factors[factor].kind;
    if (kind != Factor::Kind::kKept && kind != Factor::Kind::kReduced) {
      return false;
    }
    for (int i = 0; i < op.num_operands(); ++i) {
      const Rows& other = rows_[op.operand(i).id().index];
      const int dim = DimOf(rule.operands[i], factor);
      if (dim == kNone && !other.merged()) continue;
      if (dim != other.dim || other.outer != rows.outer) return false;
      MergeGroups(other.group, rows.group);
    }
    return absl::c_all_of(rule.results, [&](const DimensionRule::Dims& dims) {
      return absl::c_all_of(dims, [&](const auto& factors) {
        return factors.size() < 2 || !absl::c_linear_search(factors, factor);
      });
    });
  }

  // The dimension that is exactly this factor; -2 if it is part of a dimension.
  static int DimOf(const DimensionRule::Dims& dims, int factor) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!absl::c_linear_search(dims[d], factor)) continue;
      return dims[d].size() == 1 ? static_cast<int>(d) : -2;
    }
    return kNone;
  }

  // True for a reshape that merges the batch with earlier dimensions, or splits
  // such rows.
  bool FollowReshape(const OpView& op, const DimensionRule& rule,
                     const Rows& rows) {
    if (excluded_[op.id().index] || !op.node().placement.results.empty()) {
      return false;
    }
    Rows& result = rows_[op.result(0).id().index];
    if (!rows.merged()) {
      const std::optional<Merge> merge =
          MergeOf(rule.operands[0], rule.results[0], op.operand_type(0).dims,
                  rows.dim, result.dim);
      if (!merge.has_value() || merge->outer < 2) return false;
      result.outer = merge->outer;
      result.group = static_cast<int>(same_as_.size());
      same_as_.push_back(result.group);
      faulty_.push_back(false);
      merges_.push_back({op.id(), *merge});
      return true;
    }
    const Shape& dims = op.result_type(0).dims;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
      int merged_dim = kNone;
      const std::optional<Merge> merge =
          MergeOf(rule.results[0], rule.operands[0], dims, d, merged_dim);
      if (!merge.has_value() || merged_dim != rows.dim ||
          merge->outer != rows.outer || dims[d] != batch_.extent) {
        continue;
      }
      result = {.dim = d};
      splits_.push_back({op.id(), *merge});
      return true;
    }
    return false;
  }

  int GroupFor(int group) const {
    while (same_as_[group] != group) group = same_as_[group];
    return group;
  }

  void MergeGroups(int a, int b) {
    a = GroupFor(a);
    b = GroupFor(b);
    faulty_[b] = faulty_[a] || faulty_[b];
    same_as_[a] = b;
  }

  // Excludes merging reshapes of groups whose rows are not split everywhere.
  // False if there are none.
  bool LeaveOut() {
    bool any = false;
    for (const auto& [node, merge] : merges_) {
      const ValueId rows = graph_.node(node).results[0];
      if (!faulty_[GroupFor(rows_[rows.index].group)]) continue;
      excluded_[node.index] = true;
      any = true;
    }
    return any;
  }

  NodeSpec Transposed(const OpView& op, ValueId value,
                      std::vector<int64_t> perm) const {
    return SpecLike(op, op.node().placement, kTranspose, {value},
                    {{"perm", std::move(perm)}});
  }

  absl::Status PutBatchFirst(NodeId node, const Merge& merge) {
    const OpView op = graph_.view(node);
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId first,
        graph_.AddValue(Transposed(op, op.operand(0).id(),
                                   Moved(op.operand_type(0).rank(), merge.dim,
                                         merge.first)),
                        node));
    graph_.SetOperand(node, 0, first);
    return absl::OkStatus();
  }

  absl::Status PutBatchBack(NodeId node, const Merge& merge) {
    const OpView op = graph_.view(node);
    const int rank = op.result_type(0).rank();
    std::vector<int64_t> shape;
    for (int64_t dim : Moved(rank, merge.dim, merge.first)) {
      shape.push_back(op.result_type(0).dims[dim]);
    }
    NodeSpec reshape =
        SpecLike(op, op.node().placement, kReshape, {op.operand(0).id()},
                 {{"shape", std::move(shape)}});
    PARTITA_ASSIGN_OR_RETURN(const ValueId apart,
                             graph_.AddValue(std::move(reshape), node));
    NodeSpec back = Transposed(op, apart, Moved(rank, merge.first, merge.dim));
    back.result_names = {graph_.value(graph_.node(node).results[0]).name};
    PARTITA_ASSIGN_OR_RETURN(const ValueId result,
                             graph_.AddValue(std::move(back), node));
    graph_.ReplaceAllUses(graph_.node(node).results[0], result);
    graph_.Erase(node);
    return absl::OkStatus();
  }

  Graph& graph_;
  const Batch& batch_;
  std::vector<Rows> rows_;      // by value id
  std::vector<bool> excluded_;  // by node id: reshapes
  Found merges_;
  Found splits_;
  std::vector<int> same_as_;  // by group: a forest
  std::vector<bool> faulty_;  // by group
};

}  // namespace

absl::Status BatchRowsFirst(Graph& graph, const PassContext& context) {
  const Batch batch = FindBatch(graph, context.batch_inputs);
  return BatchRows(graph, batch).Run();
}

absl::Status BatchRowsFirst(Graph& graph) {
  return BatchRowsFirst(graph, PassContext());
}

}  // namespace partita
