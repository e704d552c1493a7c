// A compilation's options: whether they are valid, and which strategies they
// name.
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
#include "placement/planner/objective_choice.h"
#include "placement/planner/planner.h"

namespace partita {

inline constexpr int kMostDepth = 64;
inline constexpr int kMostMicroBatches = 4096;

// An option that is given but that the chosen strategy does not read.
struct UnreadOption {
  std::string name;     // "stages", "objective"
  std::string readers;  // the strategies that read it, "auto or data"
};
std::optional<UnreadOption> FindUnreadOption(const CompileOptions& options);

// An option that is given and that auto does not read: it implies the strategy
// that does.
struct ImplyingOption {
  std::string name;  // "stages"
  std::string strategy;
};
std::vector<ImplyingOption> ImplyingOptions(const CompileOptions& options);

// What auto and search minimize.
ObjectiveChoice ObjectiveOf(const CompileOptions& options);

// InvalidArgument for options out of range or that the strategy does not read,
// and for a machine without devices.
absl::Status CheckRequest(const Machine& machine,
                          const CompileOptions& options);

// InvalidArgument for a bucket size if no plan can have buckets.
absl::Status CheckBuckets(const Module& module, const Machine& machine,
                          const CompileOptions& options);

// InvalidArgument for a schedule of a step that has no micro-batches, neither
// given nor chosen.
absl::Status CheckSchedule(const Module& module, const Machine& machine,
                           const CompileOptions& options);

// True if the strategy is `auto` or `search` and it chooses the number of
// micro-batches, the schedule or the size of buckets: the module trains on
// several devices (on one device, for the objective memory), and the options
// leave one open.
bool ChoosesStep(const Module& module, const Machine& machine,
                 const CompileOptions& options);

// InvalidArgument for a name that is not an input of any function, an input
// without dimensions, and inputs of one function with different first extents.
absl::Status CheckBatchInputs(const Module& module,
                              absl::Span<const std::string> batch_inputs);

// InvalidArgument for a module that contains what only compiling inserts into
// graphs (layouts, copies, reorders, sums over micro-batches), or a variable
// without an initial value.
absl::Status CheckSource(const Module& module);

// The strategy of that name, or all that `auto` tries: `pinned` only if some
// node is pinned. InvalidArgument for an unknown name.
absl::StatusOr<std::vector<Planner>> PlannersFor(const Module& module,
                                                 const CompileOptions& options);
// Without those that lower many drafts: to compare many options.
absl::StatusOr<std::vector<Planner>> QuickPlanners(
    const Module& module, const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_COMPILE_REQUEST_H_
