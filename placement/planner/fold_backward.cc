// Finds the positions of backward items.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/fold_backward.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/id_vector.h"
#include "graph/op_view.h"
#include "graph/shard.h"

namespace partita {
namespace {

constexpr int kNoPosition = -1;

class Folder {
 public:
  Folder(const CostModel& costs, const Flow& flow,
         const MicroBatches& micro_batches)
      : costs_(costs),
        graph_(costs.graph()),
        flow_(flow),
        micro_batches_(micro_batches),
        variable_position_(flow.values.size(), kNoPosition) {
    const size_t count = flow.items.size();
    line_.position.assign(count, kNoPosition);
    line_.backward.assign(count, true);
    line_.once.assign(count, false);
  }

  FoldedLine Run() {
    FindForward();
    FindVariables();
    if (micro_batches_.count > 1) FindOnce();
    for (int i = Count() - 1; i >= 0; --i) {
      if (line_.backward[i]) line_.position[i] = PositionOf(i);
    }
    for (int i = 0; i < Count(); ++i) {
      if (line_.position[i] == kNoPosition)
        line_.position[i] = PositionOfLargest(i);
    }
    for (int i = 0; i < Count(); ++i) {
      line_.items[line_.position[i]].push_back(i);
    }
    return std::move(line_);
  }

 private:
  int Count() const { return static_cast<int>(flow_.items.size()); }
  int MakerOf(ValueId value) const { return flow_.values[value].maker; }

  void FindForward() {
    for (ValueId output : graph_.outputs()) {
      const int maker = MakerOf(costs_.root(output));
      if (maker >= 0) line_.backward[maker] = false;
    }
    for (int i = Count() - 1; i >= 0; --i) {
      if (line_.backward[i]) continue;
      for (ValueId source : flow_.items[i].sources) {
        if (MakerOf(source) >= 0) line_.backward[MakerOf(source)] = false;
      }
    }
    const bool none = std::all_of(line_.backward.begin(), line_.backward.end(),
                                  [](bool backward) { return backward; });
    if (none || graph_.updates().empty()) {
      line_.backward.assign(line_.backward.size(), false);
    }
    for (int i = 0; i < Count(); ++i) {
      if (line_.backward[i]) continue;
      line_.position[i] = static_cast<int>(line_.items.size());
      line_.items.emplace_back();
    }
  }

  // A variable is at its first forward reader.
  void FindVariables() {
    for (ValueId value : flow_.values.ids()) {
      const FlowValue& stored = flow_.values[value];
      if (!stored.is_stored) continue;
      const NodeId node = graph_.value(value).defining_node;
      if (!graph_.view(node).is(kVariable)) continue;
      for (int reader : stored.readers) {
        if (line_.backward[reader]) continue;
        variable_position_[value] = line_.position[reader];
        break;
      }
    }
  }

  // An `accumulate` runs in each micro-batch. A reader of its sum (say, of the
  // number of valid labels in the batch) may run in each micro-batch too.
  void FindOnce() {
    const std::vector<bool> varies =
        VaryingValues(graph_, micro_batches_.sharded_inputs);
    for (int i = 0; i < Count(); ++i) {
      const OpView op = graph_.view(flow_.items[i].node);
      line_.once[i] = !op.is(kAccumulate) && op.num_results() > 0 &&
                      !varies[op.result(0).id().index];
    }
  }

  // kNoPosition: the item follows its largest operand.
  int PositionOf(int item) const {
    int position = kNoPosition;
    for (ValueId stored : flow_.items[item].stored) {
      position = std::max(position, variable_position_[stored]);
    }
    if (line_.once[item] && (position != kNoPosition || ReadsComputed(item))) {
      return position;
    }
    for (ValueId source : flow_.items[item].sources) {
      const int maker = MakerOf(source);
      if (maker < 0 || line_.backward[maker]) continue;
      position = std::max(position, line_.position[maker]);
    }
    for (ValueId result : graph_.node(flow_.items[item].node).results) {
      for (int reader : flow_.values[result].readers) {
        position = std::max(position, line_.position[reader]);
      }
    }
    return position;
  }

  bool ReadsComputed(int item) const {
    return absl::c_any_of(flow_.items[item].sources, [this](ValueId source) {
      return MakerOf(source) >= 0;
    });
  }

  int PositionOfLargest(int item) const {
    int position = static_cast<int>(line_.items.size()) - 1;
    int64_t most = -1;
    for (ValueId source : flow_.items[item].sources) {
      const int maker = MakerOf(source);
      if (maker < 0 || costs_.bytes(source) <= most) continue;
      most = costs_.bytes(source);
      position = line_.position[maker];
    }
    return position;
  }

  const CostModel& costs_;
  const Graph& graph_;
  const Flow& flow_;
  const MicroBatches& micro_batches_;
  // By value: of a variable that a forward item reads.
  IdVector<ValueId, int> variable_position_;
  FoldedLine line_;
};

}  // namespace

FoldedLine FoldBackward(const CostModel& costs, const Flow& flow,
                        const MicroBatches& micro_batches) {
  return Folder(costs, flow, micro_batches).Run();
}

}  // namespace partita
