// From placed graphs with chosen kernels to their memory, and to a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LOWER_H_
#define PARTITA_PLACEMENT_LOWER_LOWER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/lower/draft_choice.h"
#include "placement/lower/function_draft.h"
#include "placement/lower/launch_order.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/step_predictor.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "runtime/plan/plan.h"

namespace partita {

struct LowerOptions {
  // Number of steps that may overlap. Every arena has this many step parts.
  int depth = 1;
  // By function. Empty: the whole batch is one micro-batch.
  std::vector<MicroBatches> micro_batches;
  // Search effort for smaller arenas: comparisons of conflicting buffers, for
  // each device and function.
  int64_t search_budget = 8'000'000;
  // Nothing: of the drafts that fit, the fastest is taken.
  std::optional<LeastMemory> least_memory;
};

// What a plan of some functions takes.
struct CountedPlan {
  std::vector<int64_t> needed_bytes;  // by machine device
  // Of the last function; nothing: it was not predicted.
  std::optional<double> step_seconds;
};

// Needs: every function partitioned for the machine, and a kernel on every node
// that computes. The steps, one file each:
//   shards               what each device holds of each value
//   tasks                the commands; views need none
//   micro_batch_order    the order of micro-batches and pipeline stages
//   launch_order         the fastest order of schedule and timed_order; streams
//                        for kernels, for collectives, for copies to each
//                        device, for feeds and for fetches
//   draft_choice         among the fastest order and those with less memory
//   updates              new values of variables made in place
//   clocks               the necessary waits
//   in_place             results in the bytes of an operand
//   live_ranges          when bytes are live; CountLiveBytes ends here
//   conflicts            which bytes may not overlap, by happens-before
//   pack, pack_by_time, equal_packs
//                        offsets
//   persistent           constants and variables
//   emit                 the entry
//   programs             its commands, invoked for each micro-batch (Finish)
class Lowering {
 public:
  // `machine` must outlive it, and it must outlive the counted functions.
  Lowering(const Machine& machine, LowerOptions options);
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  // Counts the live bytes of function `number` of the module, in the launch
  // order that `predict` finds fastest; without it, in the order with the
  // smallest peak. The graph must not move or change until the end.
  // InvalidArgument if `depth` is out of range. FailedPrecondition if an
  // earlier phase left a node unfinished; the message names it. Unimplemented
  // for a resharding of too many blocks, or for updates that overlapping steps
  // cannot order.
  absl::StatusOr<CountedFunction> CountLiveBytes(
      const Graph& function, int number, StepPredictor predict = nullptr) const;

  // The bytes that a plan of these functions (at least one) needs, as
  // partita::NeededBytes, and its step: of the drafts, by goal, that fit first,
  // or of the best for LeastMemory. If none fits, of those that miss least on
  // the device that lacks most.
  absl::StatusOr<CountedPlan> Figures(
      absl::Span<CountedFunction* const> functions) const;

  // The plan of all functions of the module, in its order. It lists the devices
  // that are used. ResourceExhausted, with the details that refusal.h reads,
  // about the device that lacks most bytes. FailedPrecondition if functions
  // place an updated variable differently.
  absl::StatusOr<Plan> Finish(Module module,
                              std::vector<CountedFunction> functions) const;

 private:
  using Drafts = std::vector<FunctionDraft*>;  // by function
  struct ChosenDrafts {
    DraftGoal goal = DraftGoal::kFast;
    Drafts drafts;
  };

  absl::StatusOr<FunctionDraft> Draft(const Graph& function, int number,
                                      const StepPredictor& predict,
                                      DraftGoal goal) const;
  IdVector<MachineDeviceId, int64_t> NeededBytes(const Drafts& drafts) const;
  // The drafts of the goal with the least ScoreOf; the first among equals.
  absl::StatusOr<ChosenDrafts> Choose(
      absl::Span<CountedFunction* const> functions) const;
  // Makes those that are not made yet.
  absl::StatusOr<Drafts> DraftsFor(
      DraftGoal goal, absl::Span<CountedFunction* const> functions) const;
  // A plan without its module.
  absl::StatusOr<Plan> Finish(const Module& module, const Drafts& drafts) const;

  const Machine& machine_;
  const LowerOptions options_;
  const MicroBatches whole_batch_;
  DeviceTable devices_;  // the machine's
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LOWER_H_
