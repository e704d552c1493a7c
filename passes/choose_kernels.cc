// Greedy choice in graph order: each node pays for the reorders it causes.
// SPDX-License-Identifier: Apache-2.0

#include "passes/choose_kernels.h"

#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "passes/layout_state.h"
#include "passes/make_fused.h"
#include "passes/moves_in_order.h"
#include "passes/remove_dead.h"

namespace partita {
namespace {

constexpr size_t kMaxMissing = 20;

// A choice with its layouts spelled out, and what it costs here.
struct Candidate {
  KernelChoice choice;
  double seconds = 0;
};

bool HasPadding(TensorType type, const Layout& layout) {
  type.layout = layout;
  return type.num_stored_elements() != type.num_elements();
}

class Chooser {
 public:
  Chooser(Graph& graph, const KernelCatalog& catalog,
          absl::Span<const DeviceTraits> devices, PackedConstants& packed)
      : graph_(graph), catalog_(catalog), layouts_(graph, packed) {
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

  std::vector<ChosenKernel> TakeChosen() { return std::move(chosen_); }

 private:
  absl::StatusOr<const DeviceTraits*> DeviceOf(const OpView& op) const {
    const Placement& placement = op.node().placement;
    if (placement.devices.size() != 1) {
      return absl::UnimplementedError(absl::StrCat(
          op.ToString(), ": found ", placement.devices.size(),
          " devices; expected one: kernels of divided nodes are not chosen "
          "yet; pin the node to one device"));
    }
    auto it = devices_.find(placement.devices[0]);
    if (it != devices_.end()) return it->second;
    return absl::InvalidArgumentError(
        absl::StrCat(op.ToString(), ": found device ", placement.devices[0],
                     "; expected one of the machine's"));
  }

  absl::Status Visit(NodeId id) {
    const OpView op = graph_.view(id);
    if (op.is(kConstant) || op.is(kVariable)) return absl::OkStatus();
    if (op.is(kCopy)) {
      graph_.value(op.result(0).id()).type.layout = op.operand_type(0).layout;
      return absl::OkStatus();
    }
    PARTITA_ASSIGN_OR_RETURN(const DeviceTraits* device, DeviceOf(op));
    if (op.num_operands() == 1 && MovesAllInOrder(op))
      return WantRowMajor(op, *device);
    const std::vector<KernelChoice> choices = catalog_.Choices(op, *device);
    if (op.is(kFused) && (choices.empty() || choices.front().fallback)) {
      return Inline(id);
    }
    const std::optional<Candidate> best = Best(op, choices, *device);
    if (!best.has_value()) {
      if (missing_.size() < kMaxMissing) missing_.push_back(id);
      return absl::OkStatus();
    }
    return Bind(op, *best, *device);
  }

  // The body's nodes are visited next, in their order.
  absl::Status Inline(NodeId fused) {
    const int first = graph_.node_id_bound();
    PARTITA_RETURN_IF_ERROR(InlineFused(graph_, fused));
    for (int id = graph_.node_id_bound() - 1; id >= first; --id) {
      pending_.push_front(NodeId(id));
    }
    return absl::OkStatus();
  }

  absl::Status WantRowMajor(const OpView& op, const DeviceTraits& device) {
    return Reorder(op, 0, Layout(), device);
  }

  double SecondsOf(const OpView& op, const KernelChoice& choice,
                   const DeviceTraits& device) const {
    double seconds = choice.seconds;
    for (int i = 0; i < op.num_operands(); ++i) {
      seconds += layouts_.ReorderSeconds(op.operand(i).id(), choice.operands[i],
                                         device);
    }
    return seconds;
  }

  // The choice as it stands and, if it takes any layout, in the layout of each
  // full-sized operand.
  std::vector<KernelChoice> Variants(const OpView& op,
                                     const KernelChoice& choice) const {
    std::vector<KernelChoice> variants = {choice};
    if (!choice.any_layout) return variants;
    const Shape& dims = op.result_type(0).dims;
    for (int i = 0; i < op.num_operands(); ++i) {
      const TensorType& type = op.operand_type(i);
      if (type.dims != dims || type.layout.is_row_major()) continue;
      if (HasPadding(op.result_type(0), type.layout)) continue;
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

  std::optional<Candidate> Best(const OpView& op,
                                const std::vector<KernelChoice>& choices,
                                const DeviceTraits& device) const {
    std::optional<Candidate> best;
    for (const KernelChoice& choice : choices) {
      for (KernelChoice& variant : Variants(op, choice)) {
        const double seconds = SecondsOf(op, variant, device);
        if (best.has_value() && seconds >= best->seconds) continue;
        best = Candidate{std::move(variant), seconds};
      }
    }
    return best;
  }

  absl::Status Bind(const OpView& op, const Candidate& best,
                    const DeviceTraits& device) {
    const KernelChoice& choice = best.choice;
    for (int i = 0; i < op.num_operands(); ++i) {
      PARTITA_RETURN_IF_ERROR(Reorder(op, i, choice.operands[i], device));
    }
    Node& node = graph_.node(op.id());
    for (size_t i = 0; i < node.results.size(); ++i) {
      graph_.value(node.results[i]).type.layout = choice.results[i];
    }
    node.kernel = KernelBinding{.kernel = choice.kernel,
                                .workspace = choice.workspace,
                                .in_place = choice.in_place,
                                .arithmetic = choice.arithmetic};
    chosen_.push_back({op.id(), choice.seconds, choice.fallback});
    return absl::OkStatus();
  }

  // Lets operand `i` be read in `layout`.
  absl::Status Reorder(const OpView& op, int i, const Layout& layout,
                       const DeviceTraits& device) {
    NodeId made;
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId value,
        layouts_.InLayout(op.operand(i).id(), layout, op.node().placement,
                          op.id(), made));
    if (value != op.operand(i).id()) graph_.SetOperand(op.id(), i, value);
    return made.valid() ? BindReorder(made, device) : absl::OkStatus();
  }

  // A reorder's layouts are given: its first choice is bound as it is.
  absl::Status BindReorder(NodeId node, const DeviceTraits& device) {
    const OpView op = graph_.view(node);
    const std::vector<KernelChoice> choices = catalog_.Choices(op, device);
    if (choices.empty()) {
      missing_.push_back(node);
      return absl::OkStatus();
    }
    const KernelChoice& choice = choices.front();
    graph_.node(node).kernel = KernelBinding{.kernel = choice.kernel,
                                             .workspace = choice.workspace,
                                             .in_place = {},
                                             .arithmetic = choice.arithmetic};
    chosen_.push_back({node, choice.seconds, choice.fallback});
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> RowMajorAtEnd(ValueId value) {
    if (graph_.type(value).layout.is_row_major()) return value;
    const NodeId maker = graph_.value(value).defining_node;
    const Placement placement = graph_.node(maker).placement;
    NodeId made;
    PARTITA_ASSIGN_OR_RETURN(
        const ValueId plain,
        layouts_.InLayout(value, Layout(), placement, NodeId(), made));
    if (made.valid()) {
      PARTITA_RETURN_IF_ERROR(
          BindReorder(made, *devices_.at(placement.devices[0])));
    }
    return plain;
  }

  absl::Status OutputsRowMajor() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(const ValueId value,
                               RowMajorAtEnd(graph_.outputs()[i]));
      graph_.SetOutput(static_cast<int>(i), value);
    }
    for (VariableUpdate& update : graph_.mutable_updates()) {
      PARTITA_ASSIGN_OR_RETURN(update.value, RowMajorAtEnd(update.value));
    }
    return missing_.empty() ? absl::OkStatus() : Missing();
  }

  absl::Status Missing() const {
    std::string text = "found no kernel for:";
    for (NodeId node : missing_) {
      const OpView op = graph_.view(node);
      absl::StrAppend(&text, "\n  ", op.ToString(), " of ",
                      op.result_type(0).ToString(), " on ",
                      op.node().placement.devices[0]);
    }
    absl::StrAppend(&text,
                    "\nexpected a device that has one; pin these to the cpu");
    return absl::UnimplementedError(text);
  }

  Graph& graph_;
  const KernelCatalog& catalog_;
  LayoutState layouts_;
  absl::flat_hash_map<std::string, const DeviceTraits*> devices_;
  std::deque<NodeId> pending_;
  std::vector<NodeId> missing_;
  std::vector<ChosenKernel> chosen_;
};

}  // namespace

absl::StatusOr<std::vector<ChosenKernel>> ChooseKernels(
    Graph& graph, const KernelCatalog& catalog,
    absl::Span<const DeviceTraits> devices, PackedConstants& packed) {
  Chooser chooser(graph, catalog, devices, packed);
  PARTITA_RETURN_IF_ERROR(chooser.Run());
  // Constants that only packed copies of are read.
  PARTITA_RETURN_IF_ERROR(RemoveDead(graph));
  return chooser.TakeChosen();
}

}  // namespace partita
