// Forms the units of a placed graph and assigns tasks to unit runs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/micro_batch_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/pipeline_order.h"

namespace partita {
namespace {

constexpr int kLast = std::numeric_limits<int>::max() / 2;

// Negated phase, level, backward, device.
using UnitKey = std::tuple<int, int, bool, MachineDeviceId>;

class MicroBatchOrderer {
 public:
  explicit MicroBatchOrderer(PlanDraft& draft)
      : draft_(draft),
        graph_(*draft.graph),
        nodes_(graph_.node_id_bound()),
        order_(graph_.order()) {}

  void Run() {
    FindPhases();
    FindDirections();
    FindLevels();
    MakeUnits();
    OrderPhases();
    PlaceOthers();
    for (Task& task : draft_.tasks) task.unit_run = UnitRunOf(task);
  }

 private:
  struct PlacedNode {
    // Runs in each micro-batch; true for `accumulate` too.
    bool in_each = false;
    int phase = 0;  // number of later phases
    bool backward = true;
    int level = 0;
    MachineDeviceId device;
    PipelineUnitId unit;   // invalid: none
    int unit_run = kLast;  // if not in_each
  };

  PlacedNode& at(NodeId node) { return nodes_[node.index]; }
  const PlacedNode& at(NodeId node) const { return nodes_[node.index]; }
  NodeId MakerOf(ValueId value) const {
    return graph_.value(value).defining_node;
  }

  template <typename Visit>
  void ForEachReader(NodeId node, Visit&& visit) const {
    for (ValueId result : graph_.node(node).results) {
      for (const Use& use : graph_.value(result).uses) visit(use.node);
    }
  }

  // 1. Phases, counted from the end of the step: the largest number of sums on
  //    a path from the node to the end that micro-batches read.
  void FindPhases() {
    for (NodeId id : order_) {
      const OpView op = graph_.view(id);
      const auto& devices = op.node().placement.devices;
      at(id).device = draft_.devices->ids.at(devices[0]);
      at(id).in_each =
          op.is(kAccumulate) ||
          (op.num_results() > 0 && draft_.varies[op.result(0).id().index]);
    }
    // A node that does not vary but is read in each micro-batch, such as a sum
    // over all of them, separates two phases: what it needs must run for all
    // micro-batches before the first one can read it. Constants and variables
    // are there from the start.
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      const bool is_varying =
          at(*id).in_each && !graph_.view(*id).is(kAccumulate);
      ForEachReader(*id, [&](NodeId reader) {
        const bool waits = !is_varying && at(reader).in_each &&
                           !graph_.view(*id).is(kConstant) &&
                           !graph_.view(*id).is(kVariable);
        at(*id).phase =
            std::max(at(*id).phase, at(reader).phase + (waits ? 1 : 0));
      });
    }
  }

  // 2. Directions.
  void FindDirections() {
    // Gradients are nodes like any others, except that no output of the step
    // (the loss, say) needs them: only updates do. A step without outputs is
    // all backward, and its order is that of one direction.
    std::set<NodeId> forward;
    for (ValueId output : graph_.outputs()) {
      if (MakerOf(output).valid()) forward.insert(MakerOf(output));
    }
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      if (!forward.contains(*id)) continue;
      at(*id).backward = false;
      for (ValueId operand : graph_.node(*id).operands) {
        if (MakerOf(operand).valid()) forward.insert(MakerOf(operand));
      }
    }
  }

  // True for a copy of a node's result to another device.
  bool Crosses(NodeId node) const {
    if (!graph_.view(node).is(kCopy)) return false;
    const NodeId maker = MakerOf(graph_.node(node).operands[0]);
    return maker.valid() && at(maker).device != at(node).device;
  }

  // 3. Levels. A copy has the level and the device of what it copies.
  void FindLevels() {
    // The longest path from the inputs, counted in copies: a stage of a
    // pipeline begins and ends with a copy.
    for (NodeId id : order_) {
      PlacedNode& node = at(id);
      if (!node.in_each) continue;
      for (ValueId operand : graph_.node(id).operands) {
        const NodeId maker = MakerOf(operand);
        if (!maker.valid() || !at(maker).in_each) continue;
        node.level = std::max(node.level, at(maker).level + Crosses(maker));
      }
    }
    // A node that reads no copy, such as a cast of a label in the last stage,
    // has level 0 and would be a unit of its own, which its device would have
    // to visit for each micro-batch. It joins the last unit of its device
    // instead, as late as its readers allow.
    std::map<std::tuple<int, bool, MachineDeviceId>, int> highest;
    for (NodeId id : order_) {
      const PlacedNode& node = at(id);
      if (!node.in_each || Crosses(id)) continue;
      int& level = highest[{node.phase, node.backward, node.device}];
      level = std::max(level, node.level);
    }
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      PlacedNode& node = at(*id);
      if (!node.in_each) continue;
      int latest = Crosses(*id)
                       ? kLast
                       : highest[{node.phase, node.backward, node.device}];
      ForEachReader(*id, [&](NodeId reader) {
        const PlacedNode& other = at(reader);
        if (!other.in_each || other.phase != node.phase ||
            other.backward != node.backward) {
          return;
        }
        latest = std::min(latest, other.level - Crosses(*id));
      });
      if (latest < kLast) node.level = std::max(node.level, latest);
    }
  }

  // 4. Units. Copies take no compute time of their device, so they form no
  //    unit.
  void MakeUnits() {
    std::map<UnitKey, PipelineUnitId> ids;
    for (NodeId id : order_) {
      PlacedNode& node = at(id);
      if (!node.in_each || Crosses(id)) continue;
      const UnitKey key = {-node.phase, node.level, node.backward, node.device};
      const auto [it, added] = ids.try_emplace(key);
      if (added) {
        it->second = units_.Add({node.level, node.backward, node.device, {}});
        phase_of_.Add(node.phase);
      }
      node.unit = it->second;
    }
    for (NodeId id : order_) {
      if (Crosses(id)) at(id).unit = UnitOfMaker(id);
      if (at(id).in_each) AddOrder(id);
    }
  }

  PipelineUnitId UnitOfMaker(NodeId copy) const {
    return at(MakerOf(graph_.node(copy).operands[0])).unit;
  }

  void AddOrder(NodeId id) {
    const PipelineUnitId unit = at(id).unit;
    for (ValueId operand : graph_.node(id).operands) {
      const NodeId maker = MakerOf(operand);
      if (!maker.valid() || !at(maker).in_each) continue;
      const PipelineUnitId before = at(maker).unit;
      // Between phases no order is needed: a phase ends before the next one
      // begins.
      if (before == unit || !before.valid() || !unit.valid() ||
          phase_of_[before] != phase_of_[unit]) {
        continue;
      }
      std::vector<PipelineUnitId>& after = units_[unit].after;
      if (std::find(after.begin(), after.end(), before) == after.end()) {
        after.push_back(before);
      }
    }
  }

  // Orders the phases one after another. Unit run 2t + 1 belongs to a unit;
  // nodes that run once before it have unit run 2t.
  void OrderPhases() {
    const IdVector<MicroBatchId, int> none(draft_.micro_batches.count, 0);
    unit_run_of_ = IdVector<PipelineUnitId, IdVector<MicroBatchId, int>>(
        units_.size(), none);
    // Phases are counted from the end, so the highest runs first.
    const std::set<int, std::greater<int>> phases(phase_of_.begin(),
                                                  phase_of_.end());
    for (int phase : phases) OrderPhase(phase);
    draft_.unit_runs.push_back("");  // for nodes that run once, at the end
  }

  void OrderPhase(int phase) {
    // The units of the phase have ids of their own.
    IdVector<PipelineUnitId, PipelineUnitId> own(units_.size());
    IdVector<PipelineUnitId, PipelineUnitId> all;
    IdVector<PipelineUnitId, PipelineUnit> units;
    for (PipelineUnitId unit : units_.ids()) {
      if (phase_of_[unit] != phase) continue;
      own[unit] = all.Add(unit);
      units.Add(units_[unit]);
    }
    for (PipelineUnit& unit : units) {
      for (PipelineUnitId& before : unit.after) before = own[before];
    }
    for (const UnitRun& run : OrderUnits(units, draft_.micro_batches.count,
                                         draft_.micro_batches.schedule)) {
      const PipelineUnit& unit = units[run.unit];
      draft_.unit_runs.push_back("");
      unit_run_of_[all[run.unit]][run.micro_batch] =
          static_cast<int>(draft_.unit_runs.size());
      draft_.unit_runs.push_back(
          absl::StrCat(phase > 0 ? "first_" : "",
                       unit.backward ? "backward" : "forward", unit.level));
    }
  }

  // 5. Nodes that run once: before their first reader.
  void PlaceOthers() {
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      PlacedNode& node = at(*id);
      if (node.in_each) continue;
      ForEachReader(*id, [&](NodeId reader) {
        node.unit_run = std::min(node.unit_run, FirstUnitRun(reader));
      });
    }
  }

  int FirstUnitRun(NodeId node) const {
    if (!at(node).in_each) return at(node).unit_run;
    // In the gap right before the first micro-batch of its first reader.
    const PipelineUnitId unit = at(node).unit;
    return unit.valid() ? unit_run_of_[unit][kFirstMicroBatch] - 1 : 0;
  }

  int Last() const { return static_cast<int>(draft_.unit_runs.size()) - 1; }

  int UnitRunOf(NodeId node, MicroBatchId micro_batch) const {
    const PlacedNode& placed = at(node);
    if (!placed.in_each) return std::min(placed.unit_run, Last());
    return placed.unit.valid() ? unit_run_of_[placed.unit][micro_batch] : 0;
  }

  // An input is fed in the unit run of its first reader.
  int UnitRunOfInput(ValueId input, MicroBatchId micro_batch) const {
    int unit_run = Last();
    for (const Use& use : graph_.value(input).uses) {
      unit_run = std::min(unit_run, draft_.varies[input.index]
                                        ? UnitRunOf(use.node, micro_batch)
                                        : FirstUnitRun(use.node));
    }
    return unit_run;
  }

  int UnitRunOfValue(ValueId value, MicroBatchId micro_batch) const {
    const NodeId maker = MakerOf(value);
    return maker.valid() ? UnitRunOf(maker, micro_batch)
                         : UnitRunOfInput(value, micro_batch);
  }

  int UnitRunOf(const Task& task) const {
    const MicroBatchId micro_batch = task.instance.micro_batch;
    switch (task.kind) {
      case Command::Kind::kFeed:
        return UnitRunOfInput(graph_.inputs()[task.port], micro_batch);
      case Command::Kind::kFetch: {
        const ValueId value = graph_.outputs()[task.port];
        return draft_.varies[value.index] ? UnitRunOfValue(value, micro_batch)
                                          : Last();
      }
      default:
        return UnitRunOf(task.instance.node, micro_batch);
    }
  }

  PlanDraft& draft_;
  const Graph& graph_;
  std::vector<PlacedNode> nodes_;  // by node id
  const std::vector<NodeId> order_;
  IdVector<PipelineUnitId, PipelineUnit> units_;
  IdVector<PipelineUnitId, int> phase_of_;
  IdVector<PipelineUnitId, IdVector<MicroBatchId, int>> unit_run_of_;
};

}  // namespace

void OrderMicroBatches(PlanDraft& draft) {
  if (draft.micro_batches.count > 1) MicroBatchOrderer(draft).Run();
}

}  // namespace partita
