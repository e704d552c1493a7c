// The machine, the strategy and the other options of a compilation.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_PLACING_FLAGS_H_
#define PARTITA_PARTITA_OPTIONS_PLACING_FLAGS_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/gpu_split.h"
#include "partita/compile.h"
#include "partita/options/arguments.h"
#include "placement/machine/machine.h"
#include "placement/planner/strategies.h"
#include "runtime/plan/plan_file.h"

namespace partita {

// One GPU for several devices: declared by the commands that open GPUs, with a
// word about what the command does.
inline constexpr const char kSplitGpuFlag[] = "split-gpu";
absl::StatusOr<GpuSplit> ReadSplitGpuFlag(const Arguments& arguments);

// The file of --machine, or this host if there is none: the shares of its GPUs,
// if they are split.
absl::StatusOr<Machine> ReadMachineFlag(const Arguments& arguments);

std::vector<std::string> StrategyNames();
// Of --strategy: each strategy, and what it does.
std::string StrategyDoc(const FlagDef& flag);
// Of an option that a strategy declares: the strategy too.
std::string StrategyOptionDoc(const FlagDef& flag);
std::vector<std::string> PipelineScheduleNames();
std::vector<std::string> WeightStorageNames();
std::vector<std::string> PassNames();

inline constexpr FlagDef kMachineFlags[] = {
    {"machine", "FILE", "the machine, as JSON; this host if left out", nullptr,
     FileUse::kReads, false, nullptr, kMachineFiles},
};
inline constexpr FlagDef kStrategyNameFlags[] = {
    {"strategy", "NAME",
     "auto (default, unless another flag means one): the best of the others",
     StrategyNames, FileUse::kNone, false, StrategyDoc},
};
// Also for commands that try every strategy.
inline constexpr FlagDef kPinFlags[] = {
    {"pin", "PATTERN=DEVICE,..[/splitDIM]",
     "nodes with that scope or result name go there: whole on each of several "
     "devices, or split over them along a dimension of their results, if "
     "possible; repeatable",
     nullptr, FileUse::kNone, true},
    {"together", "PATTERN,..",
     "all nodes with these scopes or result names compute on the same devices; "
     "repeatable",
     nullptr, FileUse::kNone, true},
    {"apart", "PATTERN,PATTERN,..",
     "nodes that match different patterns compute on different devices; "
     "repeatable",
     nullptr, FileUse::kNone, true},
};

constexpr size_t NumStrategyOptions() {
  size_t options = 0;
  for (const Planner& planner : kPlanners) options += planner.options.size();
  return options;
}

constexpr FlagDef FlagOf(const StrategyOption& option) {
  return {.name = option.name,
          .value = option.argument,
          .doc = option.help,
          .full_doc = StrategyOptionDoc,
          .offers = option.objective == nullptr ? nullptr : ObjectiveNames};
}

constexpr std::array<FlagDef, NumStrategyOptions()> MakeStrategyFlags() {
  std::array<FlagDef, NumStrategyOptions()> flags = {};
  size_t next = 0;
  for (const Planner& planner : kPlanners) {
    for (const StrategyOption& option : planner.options) {
      flags[next++] = FlagOf(option);
    }
  }
  return flags;
}

// One for each option that a strategy declares.
inline constexpr auto kStrategyFlags = MakeStrategyFlags();
// For commands that compare strategies.
inline constexpr FlagDef kObjectiveFlags[] = {FlagOf(kObjectiveOption)};

inline constexpr FlagDef kStepFlags[] = {
    {"bucket-size", "MIB",
     "size of a bucket of gradients or small values that replicas reduce or "
     "gather in one collective; 0: no buckets (default 4, except where auto or "
     "strategy search chooses it, for a training step)"},
    {"output-device", "NAME",
     "the device of the outputs; default: where they are made, or the first of "
     "these"},
    {"micro-batches", "N",
     "run the batch as N micro-batches in sequence (default 1, except where "
     "auto or strategy search chooses it, for a training step)"},
    {"batch-input", "NAME",
     "an input whose first dimension is the batch, which replicas and "
     "micro-batches split; default: the first input and all others that hold "
     "the batch; repeatable",
     nullptr, FileUse::kNone, true},
    {"pipeline-schedule", "NAME",
     "of micro-batches: 1f1b (default, except where auto or strategy search "
     "chooses it), each backward pass as soon as possible, or gpipe, all "
     "forward passes and then all backward passes",
     PipelineScheduleNames},
    // docs/internals/numerics.md: no kernel that violates IEEE 754.
    {"ieee", nullptr,
     "keep NaN and infinities in convolutions, matmuls and their epilogues "
     "too; slower"},
};
// The flags of ReadMachineFlag and ReadCompileOptions.
inline constexpr auto kPlacementFlags = JoinFlags(
    kMachineFlags, kStrategyNameFlags, kPinFlags, kStrategyFlags, kStepFlags);
// Also for ReadCompileOptions, in commands whose steps may overlap.
inline constexpr FlagDef kOverlapFlags[] = {
    {"depth", "N", "steps that may overlap (default 1)"},
};

// Also for it, in commands that make a plan or make it again.
inline constexpr FlagDef kSkipFlags[] = {
    {"skip", "PASS", "leave out a pass; repeatable", PassNames, FileUse::kNone,
     true},
};
// Also for it, in commands that show what the passes over a model do.
inline constexpr FlagDef kPassFlags[] = {
    {"passes", "N", "run only the first N passes"},
    {"dump", "FOLDER", "write the graph after every pass there"},
};
// CalledWrongly for a value out of range, and for flags that exclude each other
// or that the strategy does not read. Needs no model: what depends on one is
// for Compile to check.
absl::StatusOr<CompileOptions> ReadCompileOptions(const Arguments& arguments);

// The flag of ReadPlanFileOptions.
inline constexpr FlagDef kWeightsFlags[] = {
    {"weights", "HOW",
     "embed (default), or reference: leave those that no pass changed in the "
     "model's file",
     WeightStorageNames},
};
PlanFileOptions ReadPlanFileOptions(const Arguments& arguments);

// CompileOptions::plan_name: that of the model's file, without folder and
// extension.
std::string PlanNameOf(const std::string& model);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_PLACING_FLAGS_H_
