// For each sum of a product, looks for a matching sum among the readers of
// either factor.
// SPDX-License-Identifier: Apache-2.0

#include "passes/pair_sums.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

bool IsSum(const OpView& op) {
  return op.is(kReduceSum) && op.result_type(0).dtype == DType::kF32 &&
         op.attr_bool("keep_dims");
}

std::vector<int64_t> SummedDims(const OpView& sum) {
  std::vector<int64_t> dims;
  for (int64_t axis : sum.attr_ints("axes")) {
    dims.push_back(axis < 0 ? axis + sum.operand_type(0).rank() : axis);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

// Two sums that become one node.
struct Pair {
  OpView of_factor;   // the sum of a
  OpView of_product;  // the sum of a (x - centre)
  ValueView a;
  ValueView x;
  std::optional<ValueView> centre;
  Placement placement;
};

class Pairs {
 public:
  explicit Pairs(const Graph& graph)
      : graph_(graph), position_(graph.node_id_bound(), -1) {
    int next = 0;
    for (NodeId node : graph.order()) position_[node.index] = next++;
  }

  std::optional<Pair> Find(const OpView& sum) const {
    if (!IsSum(sum) || !IsRead(sum.result(0))) return std::nullopt;
    const std::optional<OpView> product = sum.operand(0).defining_op();
    if (!product.has_value() || !product->is(kMul) ||
        !sum.operand(0).has_one_reader()) {
      return std::nullopt;
    }
    for (int factor : {0, 1}) {
      std::optional<Pair> pair = WithFactor(sum, *product, factor);
      if (pair.has_value()) return pair;
    }
    return std::nullopt;
  }

  // The position of the new node: before the first of both sums.
  NodeId Place(const Pair& pair) const {
    return PositionOf(pair.of_factor.id()) < PositionOf(pair.of_product.id())
               ? pair.of_factor.id()
               : pair.of_product.id();
  }

 private:
  int PositionOf(NodeId node) const { return position_[node.index]; }

  std::optional<Pair> WithFactor(const OpView& sum, const OpView& product,
                                 int factor) const {
    const ValueView a = product.operand(factor);
    const std::optional<OpView> partner = SumOf(a, sum);
    if (!partner.has_value() || a.type() != product.result_type(0)) {
      return std::nullopt;
    }
    JointPlacement joint;
    if (!joint.Admit(sum.node()) || !joint.Admit(partner->node()) ||
        !joint.Admit(product.node())) {
      return std::nullopt;
    }
    const ValueView other = product.operand(1 - factor);
    Pair pair = {*partner, sum, a, other, std::nullopt, {}};
    const std::optional<OpView> made = other.defining_op();
    if (made.has_value() && made->is(kSub) &&
        IsOneForEachSum(made->operand_type(1), sum.result_type(0))) {
      if (!joint.Admit(made->node())) return std::nullopt;
      pair.x = made->operand(0);
      pair.centre = made->operand(1);
    } else if (made.has_value() && made->op().traits.elementwise &&
               other.has_one_reader()) {
      return std::nullopt;
    }
    if (joint.is_sharded() || pair.x.type() != a.type() || !IsThere(pair)) {
      return std::nullopt;
    }
    pair.placement = joint.get();
    return pair;
  }

  // True if both sum over the same dimensions.
  std::optional<OpView> SumOf(const ValueView& a, const OpView& like) const {
    for (const Use& use : graph_.value(a.id()).uses) {
      const OpView reader = graph_.view(use.node);
      if (IsSum(reader) && SummedDims(reader) == SummedDims(like) &&
          PositionOf(reader.id()) >= 0) {
        return reader;
      }
    }
    return std::nullopt;
  }

  // True if x is defined before the first of both sums, as a is.
  bool IsThere(const Pair& pair) const {
    const std::optional<OpView> maker = pair.x.defining_op();
    if (!maker.has_value()) return true;
    const auto index = static_cast<size_t>(maker->id().index);
    const int position = index < position_.size() ? position_[index] : -1;
    return position >= 0 && position < PositionOf(Place(pair));
  }

  const Graph& graph_;
  std::vector<int> position_;
};

// Makes nodes with the pair's placement and the scope of the sum of products.
class Writer {
 public:
  Writer(Graph& graph, const Pair& pair) : graph_(graph), pair_(pair) {}

  absl::StatusOr<ValueIds> Add(const OpDef& op, ValueIds operands,
                               Attributes attributes, NodeId before) {
    NodeSpec spec = SpecLike(pair_.of_product, pair_.placement, op,
                             std::move(operands), std::move(attributes));
    PARTITA_ASSIGN_OR_RETURN(const NodeId node,
                             graph_.AddNode(std::move(spec), before));
    const Node& made = graph_.node(node);
    return ValueIds(made.results.begin(), made.results.end());
  }

  absl::StatusOr<ValueId> Cast(ValueId value, DType to, NodeId before) {
    PARTITA_ASSIGN_OR_RETURN(const ValueIds cast,
                             Add(kCast, {value}, {{"to", to}}, before));
    return cast[0];
  }

 private:
  Graph& graph_;
  const Pair& pair_;
};

// The sum of a (x - centre), in f64.
absl::StatusOr<ValueId> Centred(const Pair& pair, const ValueIds& moments,
                                Writer& writer) {
  if (!pair.centre.has_value()) return moments[1];
  const NodeId before = pair.of_product.id();
  PARTITA_ASSIGN_OR_RETURN(const ValueId centre,
                           writer.Cast(pair.centre->id(), DType::kF64, before));
  PARTITA_ASSIGN_OR_RETURN(const ValueIds share,
                           writer.Add(kMul, {centre, moments[0]}, {}, before));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueIds rest,
      writer.Add(kSub, {moments[1], share[0]}, {}, before));
  return rest[0];
}

absl::Status Replace(Graph& graph, const Pair& pair, NodeId place) {
  Writer writer(graph, pair);
  PARTITA_ASSIGN_OR_RETURN(
      const ValueIds moments,
      writer.Add(kCrossMoments, {pair.a.id(), pair.x.id()},
                 {{"axes", SummedDims(pair.of_product)}}, place));
  PARTITA_ASSIGN_OR_RETURN(const ValueId of_factor,
                           writer.Cast(moments[0], DType::kF32, place));
  PARTITA_ASSIGN_OR_RETURN(const ValueId centred,
                           Centred(pair, moments, writer));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId of_product,
      writer.Cast(centred, DType::kF32, pair.of_product.id()));
  graph.ReplaceAllUses(pair.of_factor.result(0).id(), of_factor);
  graph.ReplaceAllUses(pair.of_product.result(0).id(), of_product);
  return absl::OkStatus();
}

}  // namespace

absl::Status PairSums(Graph& graph) {
  const Pairs pairs(graph);
  const std::vector<NodeId> order = graph.order();
  for (NodeId node : order) {
    const std::optional<Pair> pair = pairs.Find(graph.view(node));
    if (!pair.has_value()) continue;
    PARTITA_RETURN_IF_ERROR(Replace(graph, *pair, pairs.Place(*pair)));
  }
  return absl::OkStatus();
}

}  // namespace partita
