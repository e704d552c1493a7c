// Queries the catalog and the machine once and stores the answers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/cost_model.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/round_up.h"
#include "placement/cost/node_roles.h"
#include "placement/cost/roofline.h"

namespace partita {
namespace {

constexpr int64_t kAlignment = 64;

// The fallback runs element by element in double. Kernels come near the
// roofline.
constexpr double kFallbackSlowdown = 50;

bool SameButName(const DeviceTraits& a, const DeviceTraits& b) {
  DeviceTraits renamed = a;
  renamed.name = b.name;
  return renamed == b;
}

int64_t BytesIn(const TensorType& type, const Layout& layout) {
  if (layout.is_row_major()) return type.num_bytes();
  TensorType laid_out = type;
  laid_out.layout = layout;
  return laid_out.num_bytes();
}

double SecondsOf(const KernelChoice& choice, const OpView& node,
                 const DeviceTraits& device) {
  if (choice.seconds > 0) return choice.seconds;
  const double seconds = RooflineSeconds(node, device);
  return choice.fallback ? seconds * kFallbackSlowdown : seconds;
}

// The choice of choose_kernels, without the cost of reorders.
const KernelChoice& Fastest(const std::vector<KernelChoice>& choices,
                            const OpView& node, const DeviceTraits& device) {
  return *absl::c_min_element(
      choices, [&](const KernelChoice& a, const KernelChoice& b) {
        return SecondsOf(a, node, device) < SecondsOf(b, node, device);
      });
}

// True if choose_kernels replaces the fused node by its body.
bool IsInlined(const OpView& node, const std::vector<KernelChoice>& choices) {
  return node.is(kFused) && (choices.empty() || choices.front().fallback);
}

NodeCost InlinedCost(const OpView& fused, const DeviceTraits& device,
                     const KernelCatalog& catalog) {
  NodeCost total = {.can_run = true};
  for (const OpView& op : fused.region(0).ops()) {
    if (IsStored(op) || IsView(op)) continue;
    const std::vector<KernelChoice> choices = catalog.Choices(op, device);
    if (choices.empty()) return {};
    const KernelChoice& best = Fastest(choices, op, device);
    total.seconds += SecondsOf(best, op, device);
    total.workspace = std::max(total.workspace, best.workspace);
  }
  return total;
}

}  // namespace

CostModel::CostModel(const Graph& graph, const Machine& machine,
                     const KernelCatalog& catalog)
    : graph_(graph), machine_(machine), order_(graph.order()) {
  position_.assign(graph.node_id_bound(), -1);
  for (size_t i = 0; i < order_.size(); ++i) {
    position_[order_[i].index] = static_cast<int>(i);
  }
  ClassifyDevices();
  TraceViews();
  AskCatalog(catalog);
}

void CostModel::ClassifyDevices() {
  for (const MachineDevice& device : machine_.devices) {
    int found = 0;
    while (found < static_cast<int>(classes_.size()) &&
           !SameButName(device.traits, *classes_[found])) {
      ++found;
    }
    if (found == static_cast<int>(classes_.size())) {
      classes_.push_back(&device.traits);
    }
    class_of_.push_back(found);
    if (host_ < 0 && device.traits.kind == DeviceKind::kCpu) {
      host_ = static_cast<int>(class_of_.size()) - 1;
    }
  }
  links_.assign(class_of_.size() * class_of_.size(), nullptr);
  for (const Link& link : machine_.links) {
    const int from = FindDevice(link.from);
    const int to = FindDevice(link.to);
    if (from < 0 || to < 0) continue;
    links_[from * num_devices() + to] = &link;
    links_[to * num_devices() + from] = &link;
  }
}

void CostModel::TraceViews() {
  roles_.assign(graph_.node_id_bound(), kGone);
  root_.resize(graph_.value_id_bound());
  bytes_.assign(graph_.value_id_bound(), 0);
  for (int i = 0; i < graph_.value_id_bound(); ++i) root_[i] = ValueId(i);
  for (ValueId input : graph_.inputs()) {
    bytes_[input.index] = RoundUp(graph_.type(input).num_bytes(), kAlignment);
  }
  for (NodeId id : order_) {
    const OpView node = graph_.view(id);
    roles_[id.index] = IsStored(node) ? kStored
                       : IsView(node) ? kView
                                      : kComputes;
    for (ValueId result : node.node().results) {
      bytes_[result.index] =
          RoundUp(graph_.type(result).num_bytes(), kAlignment);
      if (is_view(id)) root_[result.index] = root(node.node().operands[0]);
    }
  }
}

void CostModel::AskCatalog(const KernelCatalog& catalog) {
  costs_.assign(classes_.size(), std::vector<NodeCost>(graph_.node_id_bound()));
  for (NodeId id : order_) {
    for (size_t c = 0; c < classes_.size(); ++c) {
      costs_[c][id.index] = computes(id)
                                ? Ask(graph_.view(id), *classes_[c], catalog)
                                : NodeCost{.can_run = true};
    }
  }
}

NodeCost CostModel::Ask(const OpView& node, const DeviceTraits& device,
                        const KernelCatalog& catalog) {
  const std::vector<KernelChoice> choices = catalog.Choices(node, device);
  if (IsInlined(node, choices)) return InlinedCost(node, device, catalog);
  if (choices.empty()) return {};
  const KernelChoice& best = Fastest(choices, node, device);
  const auto grow = [this](ValueId value, const Layout& layout) {
    int64_t& bytes = bytes_[root(value).index];
    bytes = std::max(bytes,
                     RoundUp(BytesIn(graph_.type(value), layout), kAlignment));
  };
  for (size_t i = 0; i < best.operands.size(); ++i) {
    if (static_cast<int>(i) >= node.num_operands()) break;
    grow(node.operand(static_cast<int>(i)).id(), best.operands[i]);
  }
  for (size_t i = 0; i < best.results.size(); ++i) {
    if (static_cast<int>(i) >= node.num_results()) break;
    grow(node.result(static_cast<int>(i)).id(), best.results[i]);
  }
  return {.can_run = true,
          .seconds = SecondsOf(best, node, device),
          .workspace = best.workspace,
          .in_place = best.in_place};
}

double CostModel::TransferSeconds(int from, int to, int64_t bytes) const {
  if (from == to) return 0;
  const Link* path = link(from, to);
  if (path == nullptr) return std::numeric_limits<double>::infinity();
  return LinkSeconds(*path, bytes);
}

int CostModel::FindDevice(absl::string_view name) const {
  for (int d = 0; d < static_cast<int>(machine_.devices.size()); ++d) {
    if (machine_.devices[d].traits.name == name) return d;
  }
  return -1;
}

}  // namespace partita
