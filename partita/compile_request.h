// What a compilation is asked for: whether it makes sense, and which strategies
// it means.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_COMPILE_REQUEST_H_
#define PARTITA_PARTITA_COMPILE_REQUEST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "placement/planner/planner.h"

namespace partita {

// An option that is given and that the chosen strategy does not read.
struct UnreadOption {
  // "device", "stages", "replicas", "divided-updates" or "goal"
  std::string name;
  // The strategies that read it, "single or pipeline".
  std::string readers;
};
std::optional<UnreadOption> FindUnreadOption(const CompileOptions& options);

// An option that is given and that one strategy alone reads, which it means.
struct TellingOption {
  std::string name;  // "device", "stages" or "replicas"
  std::string strategy;
};
std::vector<TellingOption> TellingOptions(const CompileOptions& options);

// What auto keeps the best of.
Goal GoalOf(const CompileOptions& options);

// InvalidArgument for options out of range or that the strategy does not read,
// and for a machine without devices.
absl::Status CheckRequest(const Machine& machine,
                          const CompileOptions& options);

// InvalidArgument for a size of buckets where no plan can have any.
absl::Status CheckBuckets(const Module& module, const Machine& machine,
                          const CompileOptions& options);

// InvalidArgument for a name that is no input of any function, an input without
// dimensions, and inputs of one function that differ in their first extent.
absl::Status CheckBatchInputs(const Module& module,
                              absl::Span<const std::string> batch_inputs);

// InvalidArgument for a module that holds what only compiling puts into graphs
// (layouts, copies, reorders, sums over micro-batches), or a variable without
// an initial value.
absl::Status CheckSource(const Module& module);

// The strategy of that name, or all that `auto` tries: `pinned` only if some
// node is pinned. InvalidArgument for a name that no strategy has.
absl::StatusOr<std::vector<Planner>> PlannersFor(const Module& module,
                                                 const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILE_REQUEST_H_
