// Sweeps the live ranges of all values over the graph's order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/memory_estimate.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/shard.h"

namespace partita {
namespace {

using Kind = MemoryHolder::Kind;

struct DeviceHolder {
  int device;
  MemoryHolder holder;
};

// First and last position at which a device reads a value; -1: never.
struct Reads {
  int first = -1;
  int last = -1;
};

// A variable that a node reads and whose new value it makes.
struct Overwritten {
  ValueId variable;
  InPlacePair pair;  // the node's operand and result
};

class LiveRanges {
 public:
  LiveRanges(const CostModel& costs, const Assignment& assignment)
      : costs_(costs),
        graph_(costs.graph()),
        assignment_(assignment),
        end_(static_cast<int>(costs.order().size())) {}

  std::vector<DeviceHolder> Collect() {
    CollectReads();
    for (ValueId input : graph_.inputs()) AddValue(input, Kind::kInput, 0, {});
    for (NodeId id : costs_.order()) AddNode(id);
    return std::move(holders_);
  }

 private:
  // 1. Collects the readers of every root, by device. A view is no reader; its
  // readers read the root.
  void CollectReads() {
    reads_.resize(graph_.value_id_bound());
    is_output_.assign(graph_.value_id_bound(), false);
    for (NodeId id : costs_.order()) {
      if (costs_.is_view(id)) continue;
      for (ValueId operand : graph_.node(id).operands) {
        for (int device : assignment_[id.index].devices) {
          Note(costs_.root(operand), device, costs_.position(id));
        }
      }
    }
    for (ValueId output : graph_.outputs()) {
      is_output_[costs_.root(output).index] = true;
    }
    for (const VariableUpdate& update : graph_.updates()) {
      FindOverwritten(update);
      is_output_[costs_.root(update.value).index] = true;
    }
  }

  // Finds an update whose producer reads the variable as exactly one operand.
  void FindOverwritten(const VariableUpdate& update) {
    const NodeId maker = graph_.value(update.value).defining_node;
    if (!maker.valid() || !costs_.computes(maker) ||
        is_output_[update.value.index]) {
      return;
    }
    std::optional<Overwritten> found;
    const OpView op = graph_.view(maker);
    for (int i = 0; i < op.num_operands(); ++i) {
      const ValueId operand = costs_.root(op.operand(i).id());
      const NodeId read = graph_.value(operand).defining_node;
      if (!read.valid() || !graph_.view(read).is(kVariable)) continue;
      if (graph_.view(read).attr_string("name") != update.variable) continue;
      if (found.has_value()) return;
      found = {operand, {i, graph_.value(update.value).index}};
    }
    if (found.has_value()) overwritten_[update.value] = *found;
  }

  // A shard along dimension 0 is an interval of the variable's bytes.
  bool IsWholeOrRows(ValueId value, const NodeDevices& home) const {
    const Sharding sharding =
        ShardingOf(home.results, graph_.value(value).index);
    return !home.sharded() ||
           (sharding.kind == Sharding::Kind::kSplit && sharding.dim == 0);
  }

  bool Overwrites(ValueId value, const NodeDevices& home, int device) const {
    const auto it = overwritten_.find(value);
    if (it == overwritten_.end() || !IsWholeOrRows(value, home)) return false;
    const NodeId maker = graph_.value(value).defining_node;
    const std::vector<Reads>& reads = reads_[it->second.variable.index];
    for (int d = 0; d < static_cast<int>(reads.size()); ++d) {
      if (reads[d].first < 0) continue;
      if (!absl::c_linear_search(home.devices, d) ||
          reads[d].last > costs_.position(maker)) {
        return false;
      }
    }
    return absl::c_linear_search(costs_.cost(maker, device).in_place,
                                 it->second.pair);
  }

  void Note(ValueId value, int device, int position) {
    std::vector<Reads>& by_device = reads_[value.index];
    by_device.resize(costs_.num_devices());
    Reads& reads = by_device[device];
    if (reads.first < 0) reads.first = position;
    reads.last = std::max(reads.last, position);
  }

  // 2. Stored values are kept with each reader; other values have live ranges.
  void AddNode(NodeId id) {
    const Node& node = graph_.node(id);
    if (costs_.is_view(id)) return;
    if (costs_.is_stored(id)) {
      AddStored(id);
      return;
    }
    const int position = costs_.position(id);
    const int first = node.op == &kAccumulate ? 0 : position;
    for (ValueId result : node.results) {
      AddValue(result, Kind::kActivation, first, assignment_[id.index]);
    }
    for (int device : assignment_[id.index].devices) {
      const int64_t workspace = costs_.cost(id, device).workspace;
      if (workspace == 0 || node.results.empty()) continue;
      holders_.push_back(
          {device,
           {Kind::kWorkspace, node.results[0], workspace, position, position}});
    }
  }

  // Bytes of a value on each device: all of it, or one shard, rounded up.
  int64_t BytesOn(ValueId value, const NodeDevices& home) const {
    const Sharding sharding =
        ShardingOf(home.results, graph_.value(value).index);
    const int64_t ranks =
        sharding.kind == Sharding::Kind::kSplit ? home.devices.size() : 1;
    return (costs_.bytes(value) + ranks - 1) / ranks;
  }

  void AddStored(NodeId id) {
    const Node& node = graph_.node(id);
    const Kind kind = node.op == &kConstant ? Kind::kConstant : Kind::kVariable;
    const ValueId value = node.results[0];
    const int64_t bytes = BytesOn(value, assignment_[id.index]);
    std::vector<bool> present(costs_.num_devices(), false);
    for (int device : assignment_[id.index].devices) present[device] = true;
    const std::vector<Reads>& reads = reads_[value.index];
    for (size_t d = 0; d < reads.size(); ++d) {
      if (reads[d].first >= 0) present[d] = true;
    }
    for (int d = 0; d < costs_.num_devices(); ++d) {
      if (!present[d]) continue;
      holders_.push_back({d, {kind, value, bytes, 0, end_}});
    }
  }

  void AddValue(ValueId value, Kind kind, int made, const NodeDevices& home) {
    const std::vector<Reads>& reads = reads_[value.index];
    const auto reads_on = [&](int d) {
      return d < static_cast<int>(reads.size()) ? reads[d] : Reads{};
    };
    int last_copy = made;  // position of the last copy to another device
    for (int d = 0; d < costs_.num_devices(); ++d) {
      last_copy = std::max(last_copy, reads_on(d).first);
    }
    const int64_t bytes = BytesOn(value, home);
    for (int d = 0; d < costs_.num_devices(); ++d) {
      const bool at_home = absl::c_linear_search(home.devices, d);
      const Reads there = reads_on(d);
      if (!at_home && there.first < 0) continue;
      if (at_home && Overwrites(value, home, d)) continue;
      int last = std::max(made, there.last);
      if (at_home) last = std::max(last, last_copy);
      if (at_home && is_output_[value.index]) last = end_;
      holders_.push_back({d, {kind, value, bytes, made, last}});
    }
  }

  const CostModel& costs_;
  const Graph& graph_;
  const Assignment& assignment_;
  const int end_;
  std::vector<std::vector<Reads>> reads_;  // by root value, by device
  std::vector<bool> is_output_;            // by root value
  absl::flat_hash_map<ValueId, Overwritten> overwritten_;  // by new value
  std::vector<DeviceHolder> holders_;
};

}  // namespace

std::vector<EstimatedMemory> EstimateMemory(const CostModel& costs,
                                            const Assignment& assignment) {
  const int end = static_cast<int>(costs.order().size());
  std::vector<EstimatedMemory> memory(costs.num_devices());
  std::vector<std::vector<int64_t>> change(costs.num_devices(),
                                           std::vector<int64_t>(end + 2, 0));
  for (const auto& [device, holder] : LiveRanges(costs, assignment).Collect()) {
    change[device][holder.first] += holder.bytes;
    change[device][holder.last + 1] -= holder.bytes;
    if (holder.kind == Kind::kConstant || holder.kind == Kind::kVariable) {
      memory[device].persistent += holder.bytes;
    }
  }
  for (int d = 0; d < costs.num_devices(); ++d) {
    int64_t live = 0;
    for (int position = 0; position <= end; ++position) {
      live += change[d][position];
      if (live <= memory[d].peak) continue;
      memory[d].peak = live;
      memory[d].peak_position = position;
    }
  }
  return memory;
}

std::vector<MemoryHolder> HoldersAtPeak(const CostModel& costs,
                                        const Assignment& assignment,
                                        int device) {
  const int peak = EstimateMemory(costs, assignment)[device].peak_position;
  std::vector<MemoryHolder> holders;
  for (const auto& [d, holder] : LiveRanges(costs, assignment).Collect()) {
    if (d == device && holder.first <= peak && peak <= holder.last) {
      holders.push_back(holder);
    }
  }
  absl::c_stable_sort(
      holders, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return holders;
}

}  // namespace partita
