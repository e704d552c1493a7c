// What a plan comes to: step, memory, transfers and critical path.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_FIGURES_H_
#define PARTITA_PARTITA_PLAN_FIGURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/plan_prices.h"
#include "partita/transfer_count.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// A command of the critical path, and the part of the path in which it is the
// last to end.
struct PathCommand {
  friend bool operator==(const PathCommand&, const PathCommand&) = default;

  std::string title;   // "matmul %y", "copy %h.gpu:1", "feed x"
  std::string device;  // of its stream
  Command::Kind kind = Command::Kind::kKernel;
  double seconds = 0;
};

// Seconds of a step alone, by what they are spent on. They sum up to the
// latency.
struct CriticalPath {
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;

  double kernels = 0;
  double transfers = 0;               // copies, messages, collectives
  double ports = 0;                   // feeds and fetches
  std::vector<PathCommand> commands;  // those that take time, in order
};

struct BusyDevice {
  friend bool operator==(const BusyDevice&, const BusyDevice&) = default;

  std::string device;
  double seconds = 0;  // of kernels
};

// The figures of one entry, predicted for one step.
struct EntryFigures {
  friend bool operator==(const EntryFigures&, const EntryFigures&) = default;

  std::string name;
  double step_seconds = 0;       // with `depth` steps overlapping
  double latency_seconds = 0;    // one step alone
  std::vector<BusyDevice> busy;  // as Plan::devices
  TransferCount transfers;
  CriticalPath path;
};

// Of all entries: a device has one arena for them.
struct ArenaFigures {
  friend bool operator==(const ArenaFigures&, const ArenaFigures&) = default;

  std::string device;
  int64_t arena = 0;       // bytes that the plan reserves
  int64_t persistent = 0;  // of arena: constants and variables
  int64_t memory = 0;      // bytes that arenas may take
};

struct PlanFigures {
  friend bool operator==(const PlanFigures&, const PlanFigures&) = default;

  std::vector<ArenaFigures> devices;  // as Plan::devices
  std::vector<EntryFigures> entries;  // as Plan::entries
};

// Simulates every entry. `node_seconds` is by entry, and by node id of its
// graph. Errors as Simulate.
absl::StatusOr<PlanFigures> FiguresOf(
    const Plan& plan, const Machine& machine,
    absl::Span<const std::vector<double>> node_seconds);
// At the prices of NodeSecondsOf.
absl::StatusOr<PlanFigures> FiguresOf(const Plan& plan,
                                      const PlanMachine& machine);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_FIGURES_H_
