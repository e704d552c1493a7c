// Finds the places of backward items.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/fold_backward.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_view.h"

namespace partita {
namespace {

constexpr int kNoPlace = -1;

class Folder {
 public:
  Folder(const CostModel& costs, const Flow& flow,
         const MicroBatches& micro_batches)
      : costs_(costs),
        graph_(costs.graph()),
        flow_(flow),
        micro_batches_(micro_batches) {
    const size_t count = flow.items.size();
    line_.place.assign(count, kNoPlace);
    line_.backward.assign(count, true);
    line_.once.assign(count, false);
  }

  FoldedLine Run() {
    FindForward();
    if (micro_batches_.count > 1) FindOnce();
    for (int i = Count() - 1; i >= 0; --i) {
      if (line_.backward[i]) line_.place[i] = PlaceOf(i);
    }
    for (int i = 0; i < Count(); ++i) {
      if (line_.place[i] == kNoPlace) line_.place[i] = PlaceOfLargest(i);
    }
    for (int i = 0; i < Count(); ++i) {
      line_.items[line_.place[i]].push_back(i);
    }
    return std::move(line_);
  }

 private:
  int Count() const { return static_cast<int>(flow_.items.size()); }
  int MakerOf(ValueId value) const { return flow_.values[value.index].maker; }

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
      line_.place[i] = static_cast<int>(line_.items.size());
      line_.items.emplace_back();
    }
  }

  // A sum over micro-batches is added to in each of them. What reads one, such
  // as how many labels of the whole batch count, may itself run in each.
  void FindOnce() {
    const std::vector<bool> varies =
        VaryingValues(graph_, micro_batches_.divided_inputs);
    for (int i = 0; i < Count(); ++i) {
      const OpView op = graph_.view(flow_.items[i].node);
      line_.once[i] = !op.is(kAccumulate) && op.num_results() > 0 &&
                      !varies[op.result(0).id().index];
    }
  }

  // kNoPlace: it follows what it reads.
  int PlaceOf(int item) const {
    int place = kNoPlace;
    for (ValueId stored : flow_.items[item].stored) {
      place = std::max(place, PlaceOfVariable(stored));
    }
    if (line_.once[item] && (place != kNoPlace || ReadsComputed(item))) {
      return place;
    }
    for (ValueId source : flow_.items[item].sources) {
      const int maker = MakerOf(source);
      if (maker < 0 || line_.backward[maker]) continue;
      place = std::max(place, line_.place[maker]);
    }
    for (ValueId result : graph_.node(flow_.items[item].node).results) {
      for (int reader : flow_.values[result.index].readers) {
        place = std::max(place, line_.place[reader]);
      }
    }
    return place;
  }

  bool ReadsComputed(int item) const {
    return absl::c_any_of(flow_.items[item].sources, [this](ValueId source) {
      return MakerOf(source) >= 0;
    });
  }

  int PlaceOfVariable(ValueId stored) const {
    const NodeId node = graph_.value(stored).defining_node;
    if (!graph_.view(node).is(kVariable)) return kNoPlace;
    for (int reader : flow_.values[stored.index].readers) {
      if (!line_.backward[reader]) return line_.place[reader];
    }
    return kNoPlace;
  }

  int PlaceOfLargest(int item) const {
    int place = static_cast<int>(line_.items.size()) - 1;
    int64_t most = -1;
    for (ValueId source : flow_.items[item].sources) {
      const int maker = MakerOf(source);
      if (maker < 0 || costs_.bytes(source) <= most) continue;
      most = costs_.bytes(source);
      place = line_.place[maker];
    }
    return place;
  }

  const CostModel& costs_;
  const Graph& graph_;
  const Flow& flow_;
  const MicroBatches& micro_batches_;
  FoldedLine line_;
};

}  // namespace

FoldedLine FoldBackward(const CostModel& costs, const Flow& flow,
                        const MicroBatches& micro_batches) {
  return Folder(costs, flow, micro_batches).Run();
}

}  // namespace partita
