// The cost of every node on every device, computed once.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_COST_MODEL_H_
#define PARTITA_PLACEMENT_COST_COST_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/kernel_catalog.h"
#include "placement/cost/cache_reuse.h"
#include "placement/cost/host_cores.h"
#include "placement/machine/machine.h"

namespace partita {

// The cost of a node on a device with its fastest kernel, as the catalog states
// it (graph/node_kernels.h). The choice of kernels may take another one that
// saves reorders. A fused node that no library fuses costs the sum of the nodes
// that replace it.
struct NodeCost {
  bool can_run = false;      // views and stored values: always true
  double seconds = 0;        // views and stored values: 0
  double least_seconds = 0;  // of any kernel, with its operands in the caches
  int64_t workspace = 0;     // bytes
  std::vector<InPlacePair> in_place;  // pairs that the kernel supports
};

// Asks the catalog once for all devices with equal traits. Graph, machine and
// catalog must outlive the model. Thread safety: const calls may run in
// parallel.
class CostModel {
 public:
  CostModel(const Graph& graph, const Machine& machine,
            const KernelCatalog& catalog);

  const Graph& graph() const { return graph_; }
  const Machine& machine() const { return machine_; }
  int num_devices() const { return static_cast<int>(class_of_.size()); }
  IdRange<MachineDeviceId> devices() const { return class_of_.ids(); }
  // The nodes in order, and each node's position in it (-1 if erased).
  const std::vector<NodeId>& order() const { return order_; }
  int position(NodeId node) const { return position_[node]; }

  const NodeCost& cost(NodeId node, MachineDeviceId device) const {
    return costs_[class_of_[device]][node];
  }
  // Seconds of the slowest rank of a node whose pin shards it; infinite if the
  // ranks have no common kernel.
  double sharded_seconds(NodeId node) const { return sharded_seconds_[node]; }
  // The same for a placement that shards a computing node.
  double SecondsOfShards(NodeId node, const Placement& placement) const;
  bool is_stored(NodeId node) const { return roles_[node] == kStored; }
  bool is_view(NodeId node) const { return roles_[node] == kView; }
  bool computes(NodeId node) const { return roles_[node] == kComputes; }

  // The value whose bytes `value` shares: itself, or the root of its views.
  ValueId root(ValueId value) const { return root_[value]; }
  // Bytes of the value, rounded up to 64: the largest over the row-major layout
  // and the layouts that the best kernels of its producer and readers want.
  int64_t bytes(ValueId value) const { return bytes_[value]; }

  // True if every node costs the same on both.
  bool SameSpeed(MachineDeviceId a, MachineDeviceId b) const {
    return class_of_[a] == class_of_[b];
  }
  // Null if the two have no link.
  const Link* link(MachineDeviceId from, MachineDeviceId to) const {
    return links_[from.index * num_devices() + to.index];
  }
  const HostCores& host_cores() const { return host_cores_; }
  // 0 within one device, infinite without a link. With the wake-up of a stream
  // that waits for it (HostCores).
  double TransferSeconds(MachineDeviceId from, MachineDeviceId to,
                         int64_t bytes) const;
  // The device that graph inputs come from: the first that shares the host;
  // invalid: none.
  MachineDeviceId host() const { return host_; }
  // True if graph inputs are in the memory of the device: it is a CPU.
  bool shares_host(MachineDeviceId device) const;
  // What feeds and fetches of the device take: the link to the first CPU that
  // has one. Null: they are copies in its own memory, or there is no such link.
  const Link* port_link(MachineDeviceId device) const {
    return port_links_[device];
  }
  // False if the device can neither be fed nor fetched from: it has a link to
  // none of the machine's CPUs.
  bool has_ports(MachineDeviceId device) const {
    return !host_.valid() || shares_host(device) ||
           port_link(device) != nullptr;
  }

  // The device with this name; invalid if none.
  MachineDeviceId FindDevice(absl::string_view name) const;
  const std::string& device_name(MachineDeviceId device) const {
    return machine_.devices[device.index].traits.name;
  }

 private:
  enum Role : uint8_t { kGone, kStored, kView, kComputes };

  void ClassifyDevices();
  void FindPortLinks();
  void TraceViews();
  void PriceNodes();
  NodeCost Price(const OpView& node, const DeviceTraits& device);
  void GrowToLayouts(const OpView& node, const KernelChoice& choice);
  void PriceShardedPins();

  const Graph& graph_;
  const Machine& machine_;
  const KernelCatalog& catalog_;
  std::vector<NodeId> order_;
  IdVector<NodeId, int> position_;
  IdVector<NodeId, Role> roles_;
  IdVector<ValueId, ValueId> root_;
  IdVector<ValueId, int64_t> bytes_;
  IdVector<MachineDeviceId, int> class_of_;
  std::vector<const DeviceTraits*> classes_;
  std::vector<IdVector<NodeId, NodeCost>> costs_;  // by class
  IdVector<NodeId, double> sharded_seconds_;
  std::vector<const Link*> links_;  // from * devices + to
  MachineDeviceId host_;
  const HostCores host_cores_;
  const CacheReuse cache_reuse_;
  IdVector<MachineDeviceId, const Link*> port_links_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_COST_MODEL_H_
