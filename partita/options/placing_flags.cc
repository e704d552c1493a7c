// Reads the flags that say where and how a model runs.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/placing_flags.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "partita/compile_request.h"
#include "passes/pipeline.h"
#include "placement/machine/detect_host.h"
#include "placement/planner/constraint.h"
#include "placement/planner/planner.h"

namespace partita {
namespace {

absl::Status ReadOption(const StrategyOption& option,
                        const Arguments& arguments, PlannerOptions& options) {
  if (!arguments.has(option.name)) return absl::OkStatus();
  if (option.objective != nullptr) {
    absl::StatusOr<ObjectiveChoice> choice =
        ParseObjective(arguments.Get(option.name, ""));
    if (!choice.ok()) {
      return CalledWrongly(absl::StrCat(arguments.Named(option.name), ": ",
                                        choice.status().message()));
    }
    options.*option.objective = *choice;
    return absl::OkStatus();
  }
  if (option.number == nullptr) {
    options.*option.text = arguments.Get(option.name, "");
    return absl::OkStatus();
  }
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t number,
      arguments.GetInt(option.name, 0, option.least, option.most));
  options.*option.number = number * option.unit;
  return absl::OkStatus();
}

// An option that `auto` does not read implies its strategy.
absl::Status ReadStrategy(const Arguments& arguments, CompileOptions& options) {
  options.strategy = arguments.Get("strategy", "auto");
  const std::vector<ImplyingOption> implying = ImplyingOptions(options);
  if (arguments.has("strategy") || implying.empty()) return absl::OkStatus();
  options.strategy = implying[0].strategy;
  for (const ImplyingOption& other : implying) {
    if (other.strategy == options.strategy) continue;
    return CalledWrongly(
        absl::StrCat(arguments.Named(other.name), ": found with ",
                     arguments.Named(implying[0].name),
                     "; expected one of them, as they mean ",
                     arguments.Named("strategy", other.strategy), " and ",
                     arguments.Named("strategy", options.strategy)));
  }
  return absl::OkStatus();
}

absl::Status CheckStrategyReads(const Arguments& arguments,
                                const CompileOptions& options) {
  const auto unread = FindUnreadOption(options);
  if (!unread.has_value()) return absl::OkStatus();
  const std::vector<ImplyingOption> implying = ImplyingOptions(options);
  const std::string found =
      arguments.has("strategy") || implying.empty()
          ? absl::StrCat("strategy ", options.strategy)
          : absl::StrCat(arguments.Named(implying[0].name), ", which means ",
                         arguments.Named("strategy", options.strategy));
  return CalledWrongly(
      absl::StrCat(arguments.Named(unread->name), ": found with ", found,
                   ", which does not read it; expected ",
                   arguments.Named("strategy", unread->readers)));
}

// Without --micro-batches, auto and search may choose a number: that depends on
// the model (CheckSchedule).
absl::Status CheckScheduleHasParts(const Arguments& arguments,
                                   const CompileOptions& options) {
  const bool may_have =
      options.micro_batches.has_value()
          ? *options.micro_batches > 1
          : options.strategy == "auto" || options.strategy == "search";
  if (!options.schedule.has_value() || may_have) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(arguments.Named("pipeline-schedule"),
                                    ": found without ",
                                    arguments.Named("micro-batches"),
                                    "; expected two or more micro-batches"));
}

absl::StatusOr<Pin> ReadPin(const Arguments& arguments,
                            const std::string& text) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding,
                           SplitBinding(arguments.Named("pin"), text));
  const std::vector<std::string> parts = absl::StrSplit(binding.second, '/');
  Pin pin{.pattern = binding.first,
          .devices = absl::StrSplit(parts[0], ','),
          .dim = -1};
  const bool names_all = !absl::c_linear_search(pin.devices, "");
  if (parts.size() == 1 && names_all) return pin;
  absl::string_view dim = parts.back();
  if (!names_all || parts.size() != 2 || !absl::ConsumePrefix(&dim, "split") ||
      !absl::SimpleAtoi(dim, &pin.dim) || pin.dim < 0 || pin.dim > 255) {
    return CalledWrongly(absl::StrCat(
        arguments.Named("pin", text), ": found ", binding.second,
        "; expected devices, and how to split nodes over them, as in ",
        "gpu:0,gpu:1/split0"));
  }
  return pin;
}

absl::Status ReadConstraints(const Arguments& arguments, absl::string_view flag,
                             Constraint::Kind kind,
                             std::vector<Constraint>& constraints) {
  const size_t least = kind == Constraint::Kind::kApart ? 2 : 1;
  for (const std::string& text : arguments.GetAll(flag)) {
    std::vector<std::string> patterns = absl::StrSplit(text, ',');
    if (patterns.size() < least || absl::c_linear_search(patterns, "")) {
      return CalledWrongly(absl::StrCat(
          arguments.Named(flag, text), ": found ", patterns.size(),
          patterns.size() == 1 ? " pattern" : " patterns",
          "; expected at least ", least, ", none of them empty, as in ",
          least == 2 ? "encoder,decoder" : "encoder*"));
    }
    constraints.push_back({kind, std::move(patterns)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GpuSplit> ReadSplitGpuFlag(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t shares,
      arguments.GetInt(kSplitGpuFlag, 1, 1, GpuSplit::kMostShares));
  return GpuSplit{.shares = static_cast<int>(shares)};
}

absl::StatusOr<Machine> ReadMachineFlag(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const GpuSplit split, ReadSplitGpuFlag(arguments));
  if (!arguments.has("machine")) return DetectHost({.split = split});
  return ReadMachine(arguments.Get("machine", ""));
}

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names = {"auto"};
  for (const Planner& planner : Planners()) names.push_back(planner.name);
  return names;
}

std::string StrategyDoc(const FlagDef& flag) {
  std::string text = flag.doc;
  for (const Planner& planner : Planners()) {
    absl::StrAppend(&text, "; ", planner.name, ": ", planner.doc);
  }
  return text;
}

std::string StrategyOptionDoc(const FlagDef& flag) {
  for (const Planner& planner : Planners()) {
    for (const StrategyOption& option : planner.options) {
      if (option.name != absl::string_view(flag.name)) continue;
      return absl::StrCat(option.read_by_auto ? "for" : "means", " --strategy ",
                          planner.name, ": ", flag.doc);
    }
  }
  return flag.doc;
}

std::vector<std::string> PipelineScheduleNames() { return {"1f1b", "gpipe"}; }

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : SourcePasses()) {
    if (!absl::c_linear_search(names, pass.name)) names.push_back(pass.name);
  }
  return names;
}

std::vector<std::string> WeightStorageNames() { return {"embed", "reference"}; }

PlanFileOptions ReadPlanFileOptions(const Arguments& arguments) {
  return {arguments.Get("weights", "embed") == "embed"
              ? WeightStorage::kEmbed
              : WeightStorage::kReference};
}

std::string PlanNameOf(const std::string& model) {
  const std::string file = model.substr(model.find_last_of("/:") + 1);
  return file.substr(0, file.rfind('.'));
}

absl::StatusOr<CompileOptions> ReadCompileOptions(const Arguments& arguments) {
  CompileOptions options;
  for (const std::string& text : arguments.GetAll("pin")) {
    PARTITA_ASSIGN_OR_RETURN(Pin pin, ReadPin(arguments, text));
    options.pins.push_back(std::move(pin));
  }
  std::vector<Constraint>& constraints = options.planner.constraints;
  PARTITA_RETURN_IF_ERROR(ReadConstraints(
      arguments, "together", Constraint::Kind::kTogether, constraints));
  PARTITA_RETURN_IF_ERROR(ReadConstraints(
      arguments, "apart", Constraint::Kind::kApart, constraints));
  for (const Planner& planner : Planners()) {
    for (const StrategyOption& option : planner.options) {
      PARTITA_RETURN_IF_ERROR(ReadOption(option, arguments, options.planner));
    }
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t bucket_size,
                           arguments.GetInt("bucket-size", 0, 0, 1 << 20));
  if (arguments.has("bucket-size")) options.bucket_bytes = bucket_size << 20;
  options.output_device = arguments.Get("output-device", "");
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t micro_batches,
      arguments.GetInt("micro-batches", 1, 1, kMostMicroBatches));
  if (arguments.has("micro-batches")) {
    options.micro_batches = static_cast<int>(micro_batches);
  }
  options.batch_inputs = arguments.GetAll("batch-input");
  if (arguments.has("pipeline-schedule")) {
    options.schedule = arguments.Get("pipeline-schedule", "") == "gpipe"
                           ? PipelineSchedule::kGPipe
                           : PipelineSchedule::kOneForwardOneBackward;
  }
  PARTITA_RETURN_IF_ERROR(ReadStrategy(arguments, options));
  PARTITA_RETURN_IF_ERROR(CheckStrategyReads(arguments, options));
  PARTITA_RETURN_IF_ERROR(CheckScheduleHasParts(arguments, options));
  PARTITA_ASSIGN_OR_RETURN(const int64_t depth,
                           arguments.GetInt("depth", 1, 1, kMostDepth));
  options.depth = static_cast<int>(depth);
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t passes,
      arguments.GetInt("passes", -1, 0, SourcePasses().size()));
  options.passes.stop_after = static_cast<int>(passes);
  options.passes.skip = arguments.GetAll("skip");
  options.ieee = arguments.has("ieee");
  // Most post-ops violate IEEE 754, so nothing is fused that would be unfused.
  if (options.ieee) options.passes.skip.push_back("fuse_epilogue");
  options.passes.dump_folder = arguments.Get("dump", "");
  return options;
}

}  // namespace partita
