// What to request instead if a plan does not fit into memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_REMEDY_H_
#define PARTITA_PARTITA_REMEDY_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"

namespace partita {

// A change of the options with which the module fits the machine, as compiling
// it showed.
struct Remedy {
  std::string strategy;       // without options of its own
  int depth = 1;              // as requested, or 1
  int micro_batches = 1;      // as requested, or more
  bool without_pins = false;  // all pins of the options are dropped
  bool least_memory = false;  // with the objective memory
  double step_seconds = 0;    // predicted, for one step of every entry
};

// Adds remedies to a refusal for memory: the remedy with the shortest predicted
// step (another strategy, more micro-batches, steps that do not overlap; if
// none of these fits, a search with the objective memory; other than pinned
// only if nothing fits with the pins), and the memory with which no change is
// needed. Returns other refusals unchanged, and all without
// CompileOptions::remedies.
absl::Status WithRemedies(const absl::Status& refusal, const Module& module,
                          const Machine& machine,
                          const CompileOptions& options);

// Any strategy except search, if the module then fits the machine; else the
// remedy with the shortest predicted step. ResourceExhausted if there is none.
absl::StatusOr<Remedy> FindFit(const Module& module, const Machine& machine,
                               const CompileOptions& options);

// The remedy of such a status, if it has one.
std::optional<Remedy> RemedyOf(const absl::Status& status);

}  // namespace partita

#endif  // PARTITA_PARTITA_REMEDY_H_
