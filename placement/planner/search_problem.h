// What tests of a search ask about a graph and a machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_PROBLEM_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/machine.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/planner.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/strategies.h"

namespace partita {

inline constexpr int64_t kLine = 16;  // f32 elements of 64 bytes
inline const ItemPlace kFirst = {{MachineDeviceId(0)}};
inline const ItemPlace kSecond = {{MachineDeviceId(1)}};
inline const ItemPlace kBoth = {{MachineDeviceId(0), MachineDeviceId(1)}};

inline ItemPlace Split(int number) { return {kBoth.devices, number}; }

// What is asked beside the graph and the machine.
struct SearchQuestion {
  // By result name and device; default: a second.
  SampleSeconds seconds = [](const std::string&, const DeviceTraits&) {
    return 1;
  };
  Objective objective;  // the problem sets memory_limits
  PlannerOptions options;
};

// The graph must outlive it.
class SearchProblem {
 public:
  SearchProblem(const Graph& graph, Machine machine,
                const SearchQuestion& question = {});
  SearchProblem(const SampleGraph& g, Machine machine,
                const SearchQuestion& question = {})
      : SearchProblem(g.graph(), std::move(machine), question) {}
  SearchProblem(const SearchProblem&) = delete;
  SearchProblem& operator=(const SearchProblem&) = delete;

  const PlanRequest& request() const { return request_; }
  const SearchSpace& space() const { return space_; }
  DraftScore Score(const ItemDraft& draft) const;
  std::vector<Move> Moves(const ItemDraft& draft, size_t most = 1000) const;
  // The end of a climb by all kinds of moves but this one: rounds in which each
  // better move is taken, until none is.
  ItemDraft ClimbWithout(std::optional<MoveKind> kind, ItemDraft draft) const;

 private:
  const Machine machine_;
  const SampleCatalog catalog_;
  const Objective objective_;
  const PlannerOptions options_;
  const CostModel costs_;
  const PlanRequest request_;
  const SearchSpace space_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_PROBLEM_H_
