// Every strategy's plan for one module and machine, compared.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_LEADERBOARD_H_
#define PARTITA_PARTITA_LEADERBOARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"

namespace partita {

// The plan of one strategy. Figures are for one step of every function, summed.
struct LeaderboardRow {
  std::string strategy;  // "auto", or a name of Planners()
  std::string refusal;   // in one line; if not empty, all that follows is 0
  // auto: the strategy whose plan it took, and its step if that is not the
  // default; search: CompileReport::chosen_step.
  std::string chosen;
  double step_seconds = 0;     // predicted, with `depth` steps overlapping
  double latency_seconds = 0;  // predicted, of one step alone
  // A lower bound for all plans on this machine, and what limits them in the
  // function with the largest one.
  double bound_seconds = 0;
  std::string bound_by;
  // By machine device: bytes of the arena, which hold all that is live at once.
  std::vector<int64_t> peak_bytes;
  int64_t moved_bytes = 0;  // by copies and collectives between devices
  // The share of the step in which the plan's devices run no kernel, on
  // average.
  double bubble = 0;
  double planning_seconds = 0;  // measured: all stages up to the prediction
};

struct Leaderboard {
  std::string machine;               // its name
  std::vector<std::string> devices;  // of the machine
  // The best by the objective first, equal ones in the order of Planners();
  // then the strategies that refuse.
  std::vector<LeaderboardRow> rows;
};

// Plans by every strategy that `auto` tries, and by `auto`; generates no code
// and proves nothing. `options.strategy` is not read. InvalidArgument as
// Compile's. A strategy that makes no plan is a row, not an error.
absl::StatusOr<Leaderboard> CompareStrategies(const Module& module,
                                              const Machine& machine,
                                              CompileOptions options = {});

}  // namespace partita

#endif  // PARTITA_PARTITA_LEADERBOARD_H_
