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

// How a constant or variable is stored for some of its readers.
struct StoredAs {
  absl::InlinedVector<int, 1> devices;
  Sharding sharding;
  friend bool operator==(const StoredAs&, const StoredAs&) = default;
};

bool IsSplit(const Sharding& sharding) {
  return sharding.kind == Sharding::Kind::kSplit;
}

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
    stored_as_.resize(graph_.value_id_bound());
    holders_of_.resize(graph_.value_id_bound());
    is_output_.assign(graph_.value_id_bound(), false);
    for (NodeId id : costs_.order()) {
      if (costs_.is_view(id)) continue;
      for (size_t i = 0; i < graph_.node(id).operands.size(); ++i) {
        const ValueId operand = graph_.node(id).operands[i];
        const NodeDevices& reader = assignment_[id.index];
        for (int device : reader.devices) {
          Note(costs_.root(operand), device, costs_.position(id));
        }
        NoteStoredAs(operand, reader, static_cast<int>(i));
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

  // Partition stores a constant as its readers read it. A view of it has the
  // whole.
  void NoteStoredAs(ValueId operand, const NodeDevices& reader, int i) {
    const ValueId root = costs_.root(operand);
    StoredAs as{reader.devices, ShardingOf(reader.operands, i)};
    if (!IsSplit(as.sharding) || root != operand) as.sharding = Sharding();
    std::vector<StoredAs>& all = stored_as_[root.index];
    if (!absl::c_linear_search(all, as)) all.push_back(std::move(as));
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
    return !home.sharded() || (IsSplit(sharding) && sharding.dim == 0);
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
      if (first < position) continue;  // a sum has bytes of its own
      for (int device : assignment_[id.index].devices) {
        if (Overwrites(result, assignment_[id.index], device)) continue;
        OverwriteOperand(id, result, device,
                         BytesOn(result, assignment_[id.index]));
      }
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
    return ShardBytes(value,
                      ShardingOf(home.results, graph_.value(value).index),
                      home.devices.size());
  }
  int64_t ShardBytes(ValueId value, const Sharding& sharding,
                     size_t devices) const {
    const int64_t ranks = IsSplit(sharding) ? static_cast<int64_t>(devices) : 1;
    return (costs_.bytes(value) + ranks - 1) / ranks;
  }

  void AddStored(NodeId id) {
    const Node& node = graph_.node(id);
    const Kind kind = node.op == &kConstant ? Kind::kConstant : Kind::kVariable;
    const ValueId value = node.results[0];
    const auto hold = [&](int device, int64_t bytes) {
      holders_.push_back({device, {kind, value, bytes, 0, end_}});
    };
    const NodeDevices& home = assignment_[id.index];
    std::vector<bool> whole(costs_.num_devices(), false);
    for (const StoredAs& as : stored_as_[value.index]) {
      const bool follows_home = kind == Kind::kVariable || home.sharded();
      for (int device : as.devices) {
        if (follows_home || !IsSplit(as.sharding)) {
          whole[device] = true;
        } else {
          hold(device, ShardBytes(value, as.sharding, as.devices.size()));
        }
      }
    }
    if (kind == Kind::kVariable || stored_as_[value.index].empty()) {
      for (int device : home.devices) whole[device] = true;
    }
    for (int d = 0; d < costs_.num_devices(); ++d) {
      if (whole[d]) hold(d, BytesOn(value, home));
    }
  }

  // A kernel may write a result over an operand of equal size whose last reader
  // it is: the operand's live range then ends before it. Each operand is
  // overwritten by one result.
  void OverwriteOperand(NodeId id, ValueId result, int device, int64_t bytes) {
    const Node& node = graph_.node(id);
    const int index = graph_.value(result).index;
    for (const InPlacePair& pair : costs_.cost(id, device).in_place) {
      if (pair.result != index ||
          pair.operand >= static_cast<int>(node.operands.size())) {
        continue;
      }
      MemoryHolder* operand = LastRead(id, pair.operand, device);
      if (operand == nullptr || operand->bytes != bytes) continue;
      operand->last = costs_.position(id) - 1;
      return;
    }
  }

  // The operand on the device, if no other node and no other operand reads it
  // from then on; else null.
  MemoryHolder* LastRead(NodeId id, int operand, int device) {
    const Node& node = graph_.node(id);
    const ValueId root = costs_.root(node.operands[operand]);
    const auto reads_root = [&](ValueId other) {
      return costs_.root(other) == root;
    };
    if (is_output_[root.index] ||
        absl::c_count_if(node.operands, reads_root) != 1) {
      return nullptr;
    }
    for (int holder : holders_of_[root.index]) {
      if (holders_[holder].device != device) continue;
      MemoryHolder& held = holders_[holder].holder;
      return held.last == costs_.position(id) ? &held : nullptr;
    }
    return nullptr;
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
      holders_of_[value.index].push_back(static_cast<int>(holders_.size()));
      holders_.push_back({d, {kind, value, bytes, made, last}});
    }
  }

  const CostModel& costs_;
  const Graph& graph_;
  const Assignment& assignment_;
  const int end_;
  std::vector<std::vector<Reads>> reads_;         // by root value, by device
  std::vector<bool> is_output_;                   // by root value
  std::vector<std::vector<StoredAs>> stored_as_;  // by stored root value
  std::vector<std::vector<int>> holders_of_;      // by root value, not stored
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
