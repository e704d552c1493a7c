// Greedy choice in graph order: each node pays for the reorders that it causes.
// SPDX-License-Identifier: Apache-2.0

#include "binding/choose_kernels.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "binding/layout_state.h"
#include "graph/core_ops.h"
#include "graph/node_kernels.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "graph/views.h"
#include "passes/make_fused.h"
#include "passes/remove_dead.h"

namespace partita {
namespace {

constexpr size_t kMaxListed = 20;

bool HasPadding(TensorType type, const Layout& layout) {
  type.layout = layout;
  return type.num_stored_elements() != type.num_elements();
}

class Chooser {
 public:
  Chooser(Graph& graph, const KernelCatalog& catalog,
          absl::Span<const DeviceTraits> devices, PackedConstants& packed)
      : graph_(graph), catalog_(catalog), layouts_(graph, catalog, packed) {
    for (const DeviceTraits& device : devices) {
      devices_.emplace(device.name, &device);
    }
  }

  absl::Status Run() {
    const std::vector<NodeId> order = graph_.order();
    pending_.assign(order.begin(), order.end());
    while (!pending_.empty()) {
      const NodeId node = pending_.front();
      pending_.pop_front();
      PARTITA_RETURN_IF_ERROR(Visit(node));
    }
    if (!missing_.empty()) return Missing();
    return OutputsRowMajor();
  }

  std::vector<PricedNode> TakeChosen() { return std::move(chosen_); }

 private:
  absl::StatusOr<std::vector<NodeRank>> Ranks(const OpView& op) const {
    const Placement& placement = op.node().placement;
    if (!placement.placed()) {
      return absl::FailedPreconditionError(
          absl::StrCat(op.ToString(),
                       ": found no device; expected a placed graph; run a "
                       "planner and partition first"));
    }
    std::vector<const DeviceTraits*> devices;
    for (const std::string& name : placement.devices) {
      auto it = devices_.find(name);
      if (it == devices_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(op.ToString(), ": found device ", name,
                         "; expected one of the machine's"));
      }
      devices.push_back(it->second);
    }
    return RanksOf(op, placement, devices);
  }

  std::vector<KernelChoice> ChoicesOf(
      const OpView& op, const std::vector<NodeRank>& ranks) const {
    return CommonChoices(op.node().placement, ranks, catalog_);
  }

  absl::Status Visit(NodeId id) {
    const OpView op = graph_.view(id);
    if (op.is(kConstant) || op.is(kVariable)) return absl::OkStatus();
    if (op.is(kCopy)) return VisitCopy(op);
    if (op.is(kBucket)) return VisitBucket(op);
    PARTITA_ASSIGN_OR_RETURN(const std::vector<NodeRank> ranks, Ranks(op));
    if (op.num_operands() == 1 && IsWholeView(op)) {
      return Reorder(op, 0, Layout());
    }
    const std::vector<KernelChoice> choices = ChoicesOf(op, ranks);
    if (IsUnfused(op, choices)) return Inline(id);
    const std::optional<KernelChoice> best = Best(op, ranks, choices);
    if (!best.has_value()) {
      missing_.push_back(id);
      return absl::OkStatus();
    }
    return Bind(op, *best);
  }

  // A copy that changes a value's sharding moves row-major values.
  absl::Status VisitCopy(const OpView& op) {
    const ValueId from = op.operand(0).id();
    const NodeId maker = graph_.value(from).defining_node;
    const bool was_sharded = maker.valid() && IsSharded(graph_.view(maker));
    if (!IsSharded(op) && !was_sharded) {
      graph_.value(op.result(0).id()).type.layout = op.operand_type(0).layout;
      return absl::OkStatus();
    }
    if (graph_.type(from).layout.is_row_major()) return absl::OkStatus();
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId plain,
        InLayout(from, Layout(), graph_.node(maker).placement.devices,
                 op.id()));
    graph_.SetOperand(op.id(), 0, plain);
    return absl::OkStatus();
  }

  // Operands of a bucket must be row-major.
  absl::Status VisitBucket(const OpView& op) {
    for (int i = 0; i < op.num_operands(); ++i) {
      PARTITA_RETURN_IF_ERROR(Reorder(op, i, Layout()));
    }
    return absl::OkStatus();
  }

  // The body's nodes are visited next, in order.
  absl::Status Inline(NodeId fused) {
    const int first = graph_.node_id_bound();
    const OpView op = graph_.view(fused);
    const bool tail_is_one_loop = TailIsOneLoop(op);
    std::vector<Placement> placements;
    if (IsSharded(op)) {
      placements = BodyPlacements(op.region(0), op.node().placement);
    }
    PARTITA_RETURN_IF_ERROR(InlineFused(graph_, fused));
    for (int id = graph_.node_id_bound() - 1; id >= first; --id) {
      if (!placements.empty()) {
        graph_.node(NodeId(id)).placement = std::move(placements[id - first]);
      }
      pending_.push_front(NodeId(id));
    }
    return tail_is_one_loop ? FuseTail(first + 1) : absl::OkStatus();
  }

  // All nodes from `first` on become one.
  absl::Status FuseTail(int first) {
    std::vector<NodeId> tail;
    for (int id = first; id < graph_.node_id_bound(); ++id) {
      tail.push_back(NodeId(id));
    }
    Placement placement = PlacementOf(tail);
    PARTITA_ASSIGN_OR_RETURN(const NodeId fused,
                             MakeFused(graph_, tail, tail.back()));
    SetPlacement(graph_.node(fused), std::move(placement));
    pending_.erase(pending_.begin() + 1, pending_.begin() + 1 + tail.size());
    pending_.insert(pending_.begin() + 1, fused);
    return absl::OkStatus();
  }

  // All results of a loop are sharded alike, those of its middle nodes too.
  static void SetPlacement(Node& fused, Placement placement) {
    if (!placement.results.empty()) {
      placement.results.resize(fused.results.size(), placement.results[0]);
    }
    fused.placement = std::move(placement);
  }

  // The placement of a fused node of these nodes. Its operands are the values
  // that they read from other nodes, in the same order.
  Placement PlacementOf(const std::vector<NodeId>& nodes) const {
    Placement placement = graph_.node(nodes.back()).placement;
    if (!IsSharded(graph_.view(nodes.back()))) return placement;
    placement.operands.clear();
    absl::flat_hash_set<ValueId> seen;
    for (NodeId id : nodes) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (!seen.insert(node.operands[i]).second) continue;
        placement.operands.push_back(node.placement.operands[i]);
      }
      for (ValueId result : node.results) seen.insert(result);
    }
    return placement;
  }

  double SecondsOf(const OpView& op, const KernelChoice& choice,
                   const DeviceTraits& device) const {
    double seconds = choice.seconds;
    for (int i = 0; i < op.num_operands(); ++i) {
      seconds += layouts_.ReorderSeconds(op.operand(i).id(), choice.operands[i],
                                         op.node().placement.devices, device);
    }
    return seconds;
  }

  // The choice itself and, if it supports any layout, the choice in the layout
  // of each full-sized operand.
  std::vector<KernelChoice> Variants(const OpView& op,
                                     const std::vector<NodeRank>& ranks,
                                     const KernelChoice& choice) const {
    std::vector<KernelChoice> variants = {choice};
    if (!choice.any_layout) return variants;
    const Shape& dims = op.result_type(0).dims;
    for (int i = 0; i < op.num_operands(); ++i) {
      const TensorType& type = op.operand_type(i);
      if (type.dims != dims || type.layout.is_row_major()) continue;
      const bool padded = absl::c_any_of(ranks, [&](const NodeRank& rank) {
        return HasPadding(rank.op.result_type(0), type.layout);
      });
      if (padded) continue;
      variants.push_back(InOneLayout(op, choice, type.layout));
    }
    return variants;
  }

  static KernelChoice InOneLayout(const OpView& op, KernelChoice choice,
                                  const Layout& layout) {
    const Shape& dims = op.result_type(0).dims;
    for (int i = 0; i < op.num_operands(); ++i) {
      if (op.operand_type(i).dims == dims) choice.operands[i] = layout;
    }
    for (int i = 0; i < op.num_results(); ++i) {
      if (op.result_type(i).dims == dims) choice.results[i] = layout;
    }
    return choice;
  }

  // The fastest, with the reorders that it needs here, in explicit layouts.
  std::optional<KernelChoice> Best(
      const OpView& op, const std::vector<NodeRank>& ranks,
      const std::vector<KernelChoice>& choices) const {
    std::optional<KernelChoice> best;
    double least = 0;
    for (const KernelChoice& choice : choices) {
      for (KernelChoice& variant : Variants(op, ranks, choice)) {
        const double seconds = SecondsOf(op, variant, *ranks[0].device);
        if (best.has_value() && seconds >= least) continue;
        best = std::move(variant);
        least = seconds;
      }
    }
    return best;
  }

  // In another order, elements would be overwritten before they are read.
  static std::vector<InPlacePair> InOneOrder(const KernelChoice& choice) {
    std::vector<InPlacePair> pairs = choice.in_place;
    std::erase_if(pairs, [&](const InPlacePair& pair) {
      return choice.operands[pair.operand] != choice.results[pair.result];
    });
    return pairs;
  }

  absl::Status Bind(const OpView& op, const KernelChoice& choice) {
    for (int i = 0; i < op.num_operands(); ++i) {
      PARTITA_RETURN_IF_ERROR(Reorder(op, i, choice.operands[i]));
    }
    Node& node = graph_.node(op.id());
    for (size_t i = 0; i < node.results.size(); ++i) {
      graph_.value(node.results[i]).type.layout = choice.results[i];
    }
    WriteBinding(op.id(), choice, InOneOrder(choice));
    return absl::OkStatus();
  }

  void WriteBinding(NodeId node, const KernelChoice& choice,
                    std::vector<InPlacePair> in_place) {
    KernelBinding binding = choice;
    binding.in_place = std::move(in_place);
    graph_.node(node).kernel = std::move(binding);
    chosen_.push_back(
        {node, choice.seconds, choice.fallback, choice.by_caches});
  }

  // Makes the node read operand `i` in `layout`.
  absl::Status Reorder(const OpView& op, int i, const Layout& layout) {
    PARTITA_ASSIGN_OR_RETURN(const ValueId value,
                             InLayout(op.operand(i).id(), layout,
                                      op.node().placement.devices, op.id()));
    if (value != op.operand(i).id()) graph_.SetOperand(op.id(), i, value);
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> InLayout(ValueId value, const Layout& layout,
                                   LayoutState::Devices devices,
                                   NodeId before) {
    NodeId made;
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId found,
        layouts_.InLayout(value, layout, devices, before, made));
    if (made.valid()) PARTITA_RETURN_IF_ERROR(BindReorder(made));
    return found;
  }

  // A reorder has given layouts: binds its first choice.
  absl::Status BindReorder(NodeId node) {
    const OpView op = graph_.view(node);
    PARTITA_ASSIGN_OR_RETURN(const std::vector<NodeRank> ranks, Ranks(op));
    const std::vector<KernelChoice> choices = ChoicesOf(op, ranks);
    if (choices.empty()) {
      missing_.push_back(node);
      return absl::OkStatus();
    }
    const KernelChoice& choice = choices.front();
    WriteBinding(node, choice, /*in_place=*/{});
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> RowMajorAtEnd(ValueId value) {
    if (graph_.type(value).layout.is_row_major()) return value;
    const Value& record = graph_.value(value);
    const NodeId maker = record.defining_node;
    const Placement& made = maker.valid()
                                ? graph_.node(maker).placement
                                : graph_.input_placement(record.index);
    return InLayout(value, Layout(), made.devices, NodeId());
  }

  absl::Status OutputsRowMajor() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(const ValueId value,
                               RowMajorAtEnd(graph_.outputs()[i]));
      graph_.SetOutput(static_cast<int>(i), value);
    }
    for (size_t i = 0; i < graph_.updates().size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(const ValueId value,
                               RowMajorAtEnd(graph_.updates()[i].value));
      graph_.SetUpdate(static_cast<int>(i), value);
    }
    return missing_.empty() ? absl::OkStatus() : Missing();
  }

  absl::Status Missing() const {
    std::string text = "found no kernel for:";
    for (size_t i = 0; i < std::min(missing_.size(), kMaxListed); ++i) {
      const OpView op = graph_.view(missing_[i]);
      absl::StrAppend(&text, "\n  ", op.ToString(), " of (",
                      op.OperandTypesText(), ") on ",
                      absl::StrJoin(op.node().placement.devices, ", "));
    }
    if (missing_.size() > kMaxListed) {
      absl::StrAppend(&text, "\n  and ", missing_.size() - kMaxListed, " more");
    }
    absl::StrAppend(&text,
                    "\nexpected a device that has one; pin these to another "
                    "device");
    return absl::UnimplementedError(text);
  }

  Graph& graph_;
  const KernelCatalog& catalog_;
  LayoutState layouts_;
  absl::flat_hash_map<std::string, const DeviceTraits*> devices_;
  std::deque<NodeId> pending_;
  std::vector<NodeId> missing_;
  std::vector<PricedNode> chosen_;
};

}  // namespace

absl::StatusOr<std::vector<PricedNode>> ChooseKernels(
    Graph& graph, const KernelCatalog& catalog,
    absl::Span<const DeviceTraits> devices, PackedConstants& packed) {
  Chooser chooser(graph, catalog, devices, packed);
  PARTITA_RETURN_IF_ERROR(chooser.Run());
  // Removes constants that are read only as packed copies, and unread nodes of
  // inlined bodies.
  PARTITA_RETURN_IF_ERROR(RemoveDead(graph));
  std::vector<PricedNode> chosen = chooser.TakeChosen();
  std::erase_if(chosen, [&](const PricedNode& kernel) {
    return !graph.alive(kernel.node);
  });
  return chosen;
}

}  // namespace partita
