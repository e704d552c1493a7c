// Measures reuse distances along the graph's order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/cache_reuse.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/device_kind_traits.h"
#include "graph/views.h"
#include "placement/cost/node_roles.h"
#include "placement/machine/profile.h"

namespace partita {
namespace {

// Distances up to this share of the cache displace nothing.
constexpr double kKept = 1.0 / 8;

double DisplacedOf(double distance, double cache) {
  const double kept = kKept * cache;
  return std::clamp((distance - kept) / (cache - kept), 0.0, 1.0);
}

class ReuseDistances {
 public:
  ReuseDistances(const Graph& graph, const Machine& machine, double cache)
      : graph_(graph),
        machine_(machine),
        cache_(cache),
        root_(graph.value_id_bound()),
        touched_at_(graph.value_id_bound(), 0),
        last_reader_(graph.value_id_bound()) {}

  IdVector<NodeId, double> Run() {
    FindTouchingNodes();
    FindFootprint();
    IdVector<NodeId, double> shares(graph_.node_id_bound(), 0);
    // The first step only says when each value is touched last.
    for (int step = 0; step < 2; ++step) {
      for (ValueId input : graph_.inputs()) Touch(input);
      for (NodeId node : nodes_) shares[node] = DisplacedBy(node);
    }
    return shares;
  }

 private:
  // True if the node may run on a CPU device.
  bool IsOnHost(const Placement& placement) const {
    if (!placement.placed()) return true;
    return absl::c_any_of(placement.devices, [&](const std::string& name) {
      const MachineDevice* device = machine_.FindDevice(name);
      return device != nullptr && TraitsOf(device->traits.kind).shares_host;
    });
  }

  void FindTouchingNodes() {
    for (ValueId value : root_.ids()) root_[value] = value;
    for (const OpView& node : graph_.ops()) {
      if (IsStored(node)) {
        stored_bytes_ += BytesOfResults(node);
      } else if (const auto views = ViewsOf(node); views.has_value()) {
        for (size_t i = 0; i < views->size(); ++i) {
          root_[node.node().results[i]] =
              root_[node.node().operands[(*views)[i].operand]];
        }
      } else if (IsOnHost(node.node().placement)) {
        nodes_.push_back(node.id());
      }
    }
  }

  double BytesOfResults(const OpView& node) const {
    double bytes = 0;
    for (ValueId result : node.node().results) bytes += BytesOf(result);
    return bytes;
  }

  double BytesOf(ValueId value) const {
    return static_cast<double>(graph_.type(value).num_bytes());
  }

  // The stored values, and the most bytes of computed ones at one time.
  void FindFootprint() {
    for (NodeId node : nodes_) {
      for (ValueId operand : graph_.node(node).operands) {
        last_reader_[root_[operand]] = node;
      }
    }
    double live = 0;
    for (ValueId input : graph_.inputs()) live += BytesOf(input);
    most_live_ = live;
    for (NodeId node : nodes_) {
      live += BytesOfResults(graph_.view(node));
      most_live_ = std::max(most_live_, live);
      live -= BytesThatEndAt(node);
    }
  }

  double BytesThatEndAt(NodeId node) const {
    double bytes = 0;
    for (ValueId operand : OperandsOf(node)) {
      if (last_reader_[operand] == node && !IsStoredValue(operand)) {
        bytes += BytesOf(operand);
      }
    }
    return bytes;
  }

  // Roots, each once.
  std::vector<ValueId> OperandsOf(NodeId node) const {
    std::vector<ValueId> roots;
    for (ValueId operand : graph_.node(node).operands) {
      const ValueId root = root_[operand];
      if (!absl::c_linear_search(roots, root)) roots.push_back(root);
    }
    return roots;
  }

  bool IsStoredValue(ValueId value) const {
    const NodeId maker = graph_.value(value).defining_node;
    return maker.valid() && IsStored(graph_.view(maker));
  }

  void Touch(ValueId root) {
    now_ += BytesOf(root);
    touched_at_[root] = now_;
  }

  double DisplacedBy(NodeId id) {
    double all = 0;
    double displaced = 0;
    const auto add = [&](double bytes, double distance) {
      const double most = stored_bytes_ + most_live_;
      all += bytes;
      displaced += bytes * DisplacedOf(std::min(distance, most), cache_);
    };
    const std::vector<ValueId> operands = OperandsOf(id);
    for (ValueId operand : operands) {
      add(BytesOf(operand), now_ - touched_at_[operand]);
    }
    for (ValueId result : graph_.node(id).results) {
      add(BytesOf(result), most_live_);
    }
    for (ValueId operand : operands) Touch(operand);
    for (ValueId result : graph_.node(id).results) Touch(result);
    return all > 0 ? displaced / all : 0;
  }

  const Graph& graph_;
  const Machine& machine_;
  const double cache_;
  std::vector<NodeId> nodes_;  // that touch bytes, in the graph's order
  IdVector<ValueId, ValueId> root_;
  double now_ = 0;  // bytes touched so far
  IdVector<ValueId, double> touched_at_;
  IdVector<ValueId, NodeId> last_reader_;
  double stored_bytes_ = 0;
  double most_live_ = 0;
};

}  // namespace

CacheReuse::CacheReuse(const Graph& graph, const Machine& machine) {
  const std::shared_ptr<const Profile>& profile = machine.profile.measured;
  if (profile == nullptr || !profile->cache_bytes.has_value()) return;
  is_known_ = true;
  shares_ =
      ReuseDistances(graph, machine, static_cast<double>(*profile->cache_bytes))
          .Run();
}

std::optional<double> CacheReuse::DisplacedShare(
    NodeId node, const DeviceTraits& device) const {
  if (!is_known_ || !TraitsOf(device.kind).shares_host) return std::nullopt;
  return shares_[node];
}

double SecondsInStep(double seconds,
                     const std::optional<CacheSeconds>& by_caches,
                     std::optional<double> share) {
  if (!share.has_value() || !by_caches.has_value()) return seconds;
  return by_caches->warm + *share * (by_caches->cold - by_caches->warm);
}

}  // namespace partita
