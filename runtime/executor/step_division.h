// Decides, at load, which commands of a step are launched as graphs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STEP_DIVISION_H_
#define PARTITA_RUNTIME_EXECUTOR_STEP_DIVISION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/stream_replay.h"

namespace partita {

// One action of a stream that a launcher feeds.
struct FedAction {
  const Action& action() const { return stream->actions()[index]; }

  StreamReplay* stream = nullptr;
  size_t index = 0;  // into its actions
};

// Neighbours in launch order: [begin, end) of a launcher's actions.
struct ActionRun {
  bool in_graph = false;
  size_t begin = 0;
  size_t end = 0;
};

// True if the action does work on the device: it is no record and no wait.
bool DoesWork(const Action& action);

struct StepDivision {
  // All actions, in runs; every other run is in a graph. Empty: no graphs.
  std::vector<ActionRun> runs;
  std::string why_no_graphs;  // "" if there are graphs
};

// `actions` are all those of a launcher, in launch order. In graphs are
//   * kernels that are one launch,
//   * copies between memories of devices, and feeds and fetches of such memory,
//     by staging memory,
//   * records and waits of events for which only streams of this launcher wait.
// All else needs the host: a wait for a stream of the host, a
// record that one waits for, a collective or a message through the host, a
// copy from or to pageable memory. The runs between them are as long as can be.
StepDivision DivideStep(const EntryState& state,
                        absl::Span<const FedAction> actions);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STEP_DIVISION_H_
