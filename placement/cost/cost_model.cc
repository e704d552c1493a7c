// Queries the catalog and the machine once and stores the answers.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/cost_model.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/node_kernels.h"
#include "graph/round_up.h"
#include "graph/views.h"
#include "placement/cost/node_roles.h"
#include "placement/partition/sharded_placement.h"

namespace partita {
namespace {

constexpr int64_t kAlignment = 64;
constexpr double kNever = std::numeric_limits<double>::infinity();

int64_t BytesIn(const TensorType& type, const Layout& layout) {
  if (layout.is_row_major()) return type.num_bytes();
  TensorType laid_out = type;
  laid_out.layout = layout;
  return laid_out.num_bytes();
}

// Of ranks that have a kernel: FastestChoice.
NodeCost CostOf(absl::Span<const KernelChoice> choices,
                std::optional<double> displaced) {
  const KernelChoice* best = FastestChoice(choices);
  if (best == nullptr) return {};
  NodeCost cost = {
      .can_run = true,
      .seconds = SecondsInStep(best->seconds, best->by_caches, displaced),
      .least_seconds = kNever,
      .workspace = best->workspace,
      .in_place = best->in_place};
  const auto in_caches =
      displaced.has_value() ? std::optional(0.0) : std::nullopt;
  for (const KernelChoice& choice : choices) {
    cost.least_seconds =
        std::min(cost.least_seconds,
                 SecondsInStep(choice.seconds, choice.by_caches, in_caches));
  }
  return cost;
}

NodeCost CostOf(const OpView& node, const Placement& placement,
                const std::vector<NodeRank>& ranks,
                const KernelCatalog& catalog, std::optional<double> displaced);

// Node `i` of what replaces each rank's fused node.
std::vector<NodeRank> RanksOfPart(const std::vector<NodeRank>& fused,
                                  const std::vector<UnfusedBody>& bodies,
                                  size_t i) {
  std::vector<NodeRank> ranks;
  for (size_t r = 0; r < fused.size(); ++r) {
    ranks.push_back({nullptr, bodies[r].nodes[i], fused[r].device});
  }
  return ranks;
}

// The nodes that replace a fused node, one after the other.
NodeCost UnfusedCost(const OpView& node, const std::vector<NodeRank>& fused,
                     const KernelCatalog& catalog,
                     std::optional<double> displaced) {
  const bool tail_is_one_loop = TailIsOneLoop(node);
  std::vector<UnfusedBody> bodies;
  for (const NodeRank& rank : fused) {
    absl::StatusOr<UnfusedBody> body = Unfuse(rank.op, tail_is_one_loop);
    if (!body.ok()) return {};
    bodies.push_back(*std::move(body));
  }
  NodeCost total = {.can_run = true};
  for (size_t i = 0; i < bodies[0].nodes.size(); ++i) {
    if (!Computes(bodies[0].nodes[i])) continue;
    const NodeCost part =
        CostOf(bodies[0].nodes[i], {}, RanksOfPart(fused, bodies, i), catalog,
               displaced);
    if (!part.can_run) return {};
    total.seconds += part.seconds;
    total.least_seconds += part.least_seconds;
    total.workspace = std::max(total.workspace, part.workspace);
  }
  return total;
}

NodeCost CostOf(const OpView& node, const Placement& placement,
                const std::vector<NodeRank>& ranks,
                const KernelCatalog& catalog, std::optional<double> displaced) {
  const std::vector<KernelChoice> choices =
      CommonChoices(placement, ranks, catalog);
  if (IsUnfused(node, choices)) {
    return UnfusedCost(node, ranks, catalog, displaced);
  }
  return CostOf(choices, displaced);
}

}  // namespace

CostModel::CostModel(const Graph& graph, const Machine& machine,
                     const KernelCatalog& catalog)
    : graph_(graph),
      machine_(machine),
      catalog_(catalog),
      order_(graph.order()),
      position_(graph.node_id_bound(), -1),
      roles_(graph.node_id_bound(), kGone),
      bytes_(graph.value_id_bound(), 0),
      sharded_seconds_(graph.node_id_bound(), 0),
      host_cores_(machine),
      cache_reuse_(graph, machine) {
  for (size_t i = 0; i < order_.size(); ++i) {
    position_[order_[i]] = static_cast<int>(i);
  }
  ClassifyDevices();
  FindPortLinks();
  TraceViews();
  PriceNodes();
  PriceShardedPins();
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
    const MachineDeviceId id = class_of_.Add(found);
    if (!host_.valid() && TraitsOf(device.traits.kind).shares_host) host_ = id;
  }
  links_.assign(class_of_.size() * class_of_.size(), nullptr);
  for (const Link& link : machine_.links) {
    const MachineDeviceId from = FindDevice(link.from);
    const MachineDeviceId to = FindDevice(link.to);
    if (!from.valid() || !to.valid()) continue;
    links_[from.index * num_devices() + to.index] = &link;
    links_[to.index * num_devices() + from.index] = &link;
  }
}

void CostModel::FindPortLinks() {
  port_links_.assign(num_devices(), nullptr);
  for (MachineDeviceId device : devices()) {
    if (shares_host(device)) continue;
    for (MachineDeviceId host : devices()) {
      if (!shares_host(host) || link(host, device) == nullptr) continue;
      port_links_[device] = link(host, device);
      break;
    }
  }
}

bool CostModel::shares_host(MachineDeviceId device) const {
  return TraitsOf(machine_.devices[device.index].traits.kind).shares_host;
}

void CostModel::TraceViews() {
  for (ValueId value : bytes_.ids()) root_.Add(value);
  for (ValueId input : graph_.inputs()) {
    bytes_[input] = RoundUp(graph_.type(input).num_bytes(), kAlignment);
  }
  for (NodeId id : order_) {
    const OpView node = graph_.view(id);
    roles_[id] = IsStored(node) ? kStored : IsView(node) ? kView : kComputes;
    for (ValueId result : node.node().results) {
      bytes_[result] = RoundUp(graph_.type(result).num_bytes(), kAlignment);
    }
    if (!is_view(id)) continue;
    const std::vector<ViewOf> views = *ViewsOf(node);
    for (size_t i = 0; i < views.size(); ++i) {
      root_[node.node().results[i]] =
          root(node.node().operands[views[i].operand]);
    }
  }
}

void CostModel::PriceNodes() {
  costs_.assign(classes_.size(),
                IdVector<NodeId, NodeCost>(graph_.node_id_bound()));
  for (NodeId id : order_) {
    for (size_t c = 0; c < classes_.size(); ++c) {
      costs_[c][id] = computes(id) ? Price(graph_.view(id), *classes_[c])
                                   : NodeCost{.can_run = true};
    }
  }
}

NodeCost CostModel::Price(const OpView& node, const DeviceTraits& device) {
  const absl::StatusOr<std::vector<NodeRank>> alone =
      RanksOf(node, Placement(), {&device});
  if (!alone.ok()) return {};
  const std::vector<KernelChoice> choices =
      CommonChoices(Placement(), *alone, catalog_);
  const std::optional<double> displaced =
      cache_reuse_.DisplacedShare(node.id(), device);
  if (IsUnfused(node, choices)) {
    return UnfusedCost(node, *alone, catalog_, displaced);
  }
  const KernelChoice* best = FastestChoice(choices);
  if (best == nullptr) return {};
  GrowToLayouts(node, *best);
  return CostOf(choices, displaced);
}

void CostModel::GrowToLayouts(const OpView& node, const KernelChoice& choice) {
  const auto grow = [this](ValueId value, const Layout& layout) {
    int64_t& bytes = bytes_[root(value)];
    bytes = std::max(bytes,
                     RoundUp(BytesIn(graph_.type(value), layout), kAlignment));
  };
  for (size_t i = 0; i < choice.operands.size(); ++i) {
    if (static_cast<int>(i) >= node.num_operands()) break;
    grow(node.operand(static_cast<int>(i)).id(), choice.operands[i]);
  }
  for (size_t i = 0; i < choice.results.size(); ++i) {
    if (static_cast<int>(i) >= node.num_results()) break;
    grow(node.result(static_cast<int>(i)).id(), choice.results[i]);
  }
}

void CostModel::PriceShardedPins() {
  for (NodeId id : order_) {
    const Placement& pin = graph_.node(id).placement;
    if (!computes(id) || pin.results.empty()) continue;
    sharded_seconds_[id] = SecondsOfShards(id, pin);
  }
}

double CostModel::SecondsOfShards(NodeId id, const Placement& wanted) const {
  const OpView node = graph_.view(id);
  std::vector<const DeviceTraits*> devices;
  for (const std::string& name : wanted.devices) {
    const MachineDeviceId device = FindDevice(name);
    if (!device.valid()) return kNever;
    devices.push_back(&machine_.devices[device.index].traits);
  }
  const absl::StatusOr<Placement> placement = ShardNode(node, wanted);
  if (!placement.ok()) return kNever;
  const absl::StatusOr<std::vector<NodeRank>> ranks =
      RanksOf(node, *placement, devices);
  if (!ranks.ok()) return kNever;
  const NodeCost cost =
      CostOf(node, *placement, *ranks, catalog_,
             cache_reuse_.DisplacedShare(id, *devices.front()));
  return cost.can_run ? cost.seconds : kNever;
}

double CostModel::TransferSeconds(MachineDeviceId from, MachineDeviceId to,
                                  int64_t bytes) const {
  if (from == to) return 0;
  const Link* path = link(from, to);
  if (path == nullptr) return kNever;
  return path->latency + static_cast<double>(bytes) / path->bandwidth +
         host_cores_.HandoverSeconds(machine_.devices[to.index].traits);
}

MachineDeviceId CostModel::FindDevice(absl::string_view name) const {
  for (MachineDeviceId device : devices()) {
    if (device_name(device) == name) return device;
  }
  return {};
}

}  // namespace partita
