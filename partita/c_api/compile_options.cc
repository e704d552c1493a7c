// Reads the options of a compilation: one function a key.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/compile_options.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "partita/c_api/option_values.h"
#include "partita/compile_request.h"
#include "passes/pipeline.h"
#include "placement/planner/constraint.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/strategies.h"

namespace partita::c_api {
namespace {

using absl::Status;

// --- one function a key; each changes what its key sets ---

Status ReadMachineKey(const std::string& value, CompileSettings& settings) {
  if (value.empty()) return BadValue(value, "the name of a machine file");
  settings.machine_file = value;
  return absl::OkStatus();
}

Status ReadStrategyKey(const std::string& value, CompileSettings& settings) {
  std::vector<std::string> names = {"auto"};
  for (const Planner& planner : Planners()) names.push_back(planner.name);
  PARTITA_RETURN_IF_ERROR(ReadChoice(value, names).status());
  settings.compile.strategy = value;
  settings.has_strategy = true;
  return absl::OkStatus();
}

// "gpu:0,gpu:1/split0": devices, and how to split nodes over them.
Status ReadPinKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding, ReadBinding(value));
  const std::vector<std::string> parts = absl::StrSplit(binding.second, '/');
  Pin pin = {.pattern = binding.first,
             .devices = absl::StrSplit(parts[0], ',')};
  const bool names_all = !absl::c_linear_search(pin.devices, "");
  absl::string_view dim = parts.back();
  const bool splits = parts.size() == 2 && absl::ConsumePrefix(&dim, "split") &&
                      absl::SimpleAtoi(dim, &pin.dim) && pin.dim >= 0 &&
                      pin.dim <= 255;
  if (!names_all || (parts.size() != 1 && !splits)) {
    return BadValue(value,
                    "PATTERN=DEVICES, and how to split nodes over them, as in "
                    "h=gpu:0,gpu:1/split0");
  }
  settings.compile.pins.push_back(std::move(pin));
  return absl::OkStatus();
}

Status AddConstraint(const std::string& value, Constraint::Kind kind,
                     size_t least, const char* example,
                     CompileSettings& settings) {
  std::vector<std::string> patterns = absl::StrSplit(value, ',');
  if (patterns.size() < least || absl::c_linear_search(patterns, "")) {
    return BadValue(
        value, absl::StrCat("at least ", least,
                            " patterns, none of them empty, as in ", example));
  }
  settings.compile.planner.constraints.push_back({kind, std::move(patterns)});
  return absl::OkStatus();
}

Status ReadTogetherKey(const std::string& value, CompileSettings& settings) {
  return AddConstraint(value, Constraint::Kind::kTogether, 1, "encoder*",
                       settings);
}

Status ReadApartKey(const std::string& value, CompileSettings& settings) {
  return AddConstraint(value, Constraint::Kind::kApart, 2, "encoder,decoder",
                       settings);
}

Status ReadBucketSizeKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t mib, ReadInteger(value, 0, 1 << 20));
  settings.compile.bucket_bytes = mib << 20;
  return absl::OkStatus();
}

Status ReadOutputDeviceKey(const std::string& value,
                           CompileSettings& settings) {
  if (value.empty()) return BadValue(value, "a device");
  settings.compile.output_device = value;
  return absl::OkStatus();
}

Status ReadMicroBatchesKey(const std::string& value,
                           CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t number,
                           ReadInteger(value, 1, kMostMicroBatches));
  settings.compile.micro_batches = static_cast<int>(number);
  return absl::OkStatus();
}

Status ReadBatchInputKey(const std::string& value, CompileSettings& settings) {
  if (value.empty()) return BadValue(value, "the name of an input");
  settings.compile.batch_inputs.push_back(value);
  return absl::OkStatus();
}

Status ReadScheduleKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const size_t choice,
                           ReadChoice(value, {"1f1b", "gpipe"}));
  settings.compile.schedule = choice == 0
                                  ? PipelineSchedule::kOneForwardOneBackward
                                  : PipelineSchedule::kGPipe;
  return absl::OkStatus();
}

Status ReadIeeeKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(settings.compile.ieee, ReadBool(value));
  return absl::OkStatus();
}

Status ReadDepthKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t depth,
                           ReadInteger(value, 1, kMostDepth));
  settings.compile.depth = static_cast<int>(depth);
  return absl::OkStatus();
}

Status ReadPassesKey(const std::string& value, CompileSettings& settings) {
  const auto most = static_cast<int64_t>(SourcePasses().size());
  PARTITA_ASSIGN_OR_RETURN(const int64_t passes, ReadInteger(value, 0, most));
  settings.compile.passes.stop_after = static_cast<int>(passes);
  return absl::OkStatus();
}

Status ReadSkipKey(const std::string& value, CompileSettings& settings) {
  std::vector<std::string> names;
  for (const Pass& pass : SourcePasses()) {
    if (!absl::c_linear_search(names, pass.name)) names.push_back(pass.name);
  }
  PARTITA_RETURN_IF_ERROR(ReadChoice(value, names).status());
  settings.compile.passes.skip.push_back(value);
  return absl::OkStatus();
}

Status ReadDumpKey(const std::string& value, CompileSettings& settings) {
  if (value.empty()) return BadValue(value, "a folder");
  settings.compile.passes.dump_folder = value;
  return absl::OkStatus();
}

Status ReadWeightsKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const size_t choice,
                           ReadChoice(value, {"embed", "reference"}));
  settings.file.weights =
      choice == 0 ? WeightStorage::kEmbed : WeightStorage::kReference;
  return absl::OkStatus();
}

Status Twice(const std::string& name) {
  return absl::InvalidArgumentError(
      absl::StrCat("found ", name, " twice; expected one value for it"));
}

Status ReadDimKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding, ReadBinding(value));
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t extent,
      ReadInteger(binding.second, 0, std::numeric_limits<int64_t>::max()));
  const bool is_new =
      settings.import.dims.emplace(binding.first, extent).second;
  return is_new ? absl::OkStatus() : Twice(binding.first);
}

Status ReadShapeKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding, ReadBinding(value));
  // A missing number differs from a scalar, which has none.
  const std::string& list = binding.second;
  PARTITA_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           ReadIntegers(list == "scalar" ? "" : list));
  const bool is_new =
      settings.import.shapes.emplace(binding.first, std::move(shape)).second;
  return is_new ? absl::OkStatus() : Twice(binding.first);
}

Status ReadBindKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding,
                           ReadBinding(value, /*may_be_empty=*/true));
  PARTITA_ASSIGN_OR_RETURN(std::vector<Number> numbers,
                           ReadNumbers(binding.second));
  const bool is_new =
      settings.import.values.emplace(binding.first, std::move(numbers)).second;
  return is_new ? absl::OkStatus() : Twice(binding.first);
}

Status ReadStrictTypesKey(const std::string& value, CompileSettings& settings) {
  PARTITA_ASSIGN_OR_RETURN(settings.import.strict_types, ReadBool(value));
  return absl::OkStatus();
}

// --- the keys ---

struct Key {
  const char* name;
  Status (*read)(const std::string& value, CompileSettings& settings);
  bool repeats = false;
  bool imports = false;  // sets ImportOptions
};

// Options of strategies are keys too; their declarations say how to read them.
constexpr Key kKeys[] = {
    {"machine", ReadMachineKey},
    {"strategy", ReadStrategyKey},
    {"pin", ReadPinKey, /*repeats=*/true},
    {"together", ReadTogetherKey, /*repeats=*/true},
    {"apart", ReadApartKey, /*repeats=*/true},
    {"bucket-size", ReadBucketSizeKey},
    {"output-device", ReadOutputDeviceKey},
    {"micro-batches", ReadMicroBatchesKey},
    {"batch-input", ReadBatchInputKey, /*repeats=*/true},
    {"pipeline-schedule", ReadScheduleKey},
    {"ieee", ReadIeeeKey},
    {"depth", ReadDepthKey},
    {"dim", ReadDimKey, /*repeats=*/true, /*imports=*/true},
    {"shape", ReadShapeKey, /*repeats=*/true, /*imports=*/true},
    {"bind", ReadBindKey, /*repeats=*/true, /*imports=*/true},
    {"strict-types", ReadStrictTypesKey, /*repeats=*/false, /*imports=*/true},
    {"weights", ReadWeightsKey},
    {"passes", ReadPassesKey},
    {"skip", ReadSkipKey, /*repeats=*/true},
    {"dump", ReadDumpKey},
};

const StrategyOption* FindStrategyOption(absl::string_view name) {
  for (const Planner& planner : Planners()) {
    for (const StrategyOption& option : planner.options) {
      if (option.name == name) return &option;
    }
  }
  return nullptr;
}

Status ReadStrategyOption(const StrategyOption& option,
                          const std::string& value, PlannerOptions& options) {
  if (option.objective != nullptr) {
    PARTITA_ASSIGN_OR_RETURN(options.*option.objective, ParseObjective(value));
    return absl::OkStatus();
  }
  if (option.number != nullptr) {
    PARTITA_ASSIGN_OR_RETURN(const int64_t number,
                             ReadInteger(value, option.least, option.most));
    options.*option.number = number * option.unit;
    return absl::OkStatus();
  }
  if (value.empty()) return BadValue(value, option.argument);
  options.*option.text = value;
  return absl::OkStatus();
}

Status UnknownKey(absl::string_view name) {
  std::vector<std::string> keys;
  for (CompileKey& key : CompileKeys()) keys.push_back(std::move(key.name));
  return absl::InvalidArgumentError(absl::StrCat(
      "found no such option; expected one of: ", absl::StrJoin(keys, ", "),
      NearestName(name, keys)));
}

// Reads one option; the message of an error does not name it.
Status ReadOne(const std::string& name, const std::string& value, bool is_first,
               CompileSettings& settings) {
  const auto* key = absl::c_find_if(
      kKeys, [&](const Key& candidate) { return candidate.name == name; });
  const bool is_key = key != std::end(kKeys);
  const StrategyOption* const option =
      is_key ? nullptr : FindStrategyOption(name);
  if (!is_key && option == nullptr) return UnknownKey(name);
  if (!is_first && !(is_key && key->repeats)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found it twice, now as ", value, "; expected it once"));
  }
  if (!is_key) {
    return ReadStrategyOption(*option, value, settings.compile.planner);
  }
  if (key->imports) settings.import_keys.push_back(name);
  return key->read(value, settings);
}

// An option that `auto` does not read implies its strategy.
Status ImplyStrategy(CompileSettings& settings) {
  const std::vector<ImplyingOption> implying =
      ImplyingOptions(settings.compile);
  if (settings.has_strategy || implying.empty()) return absl::OkStatus();
  settings.compile.strategy = implying[0].strategy;
  for (const ImplyingOption& other : implying) {
    if (other.strategy == implying[0].strategy) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        other.name, ": found it, which means strategy=", other.strategy,
        ", with ", implying[0].name, ", which means strategy=",
        implying[0].strategy, "; expected one of them"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<CompileKey> CompileKeys() {
  std::vector<CompileKey> keys;
  for (const Key& key : kKeys) keys.push_back({key.name, key.repeats});
  for (const Planner& planner : Planners()) {
    for (const StrategyOption& option : planner.options) {
      keys.push_back({option.name});
    }
  }
  return keys;
}

absl::StatusOr<CompileSettings> ReadCompileOptions(
    absl::Span<const absl::string_view> options) {
  CompileSettings settings;
  absl::flat_hash_set<std::string> seen;
  for (const absl::string_view text : options) {
    const size_t equals = text.find('=');
    if (equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "option ", text, ": found no =; expected KEY=VALUE, as in depth=2"));
    }
    const std::string name(text.substr(0, equals));
    const std::string value(text.substr(equals + 1));
    const bool is_first = seen.insert(name).second;
    const Status read = ReadOne(name, value, is_first, settings);
    if (read.ok()) continue;
    return Status(read.code(), absl::StrCat(name, ": ", read.message()));
  }
  PARTITA_RETURN_IF_ERROR(ImplyStrategy(settings));
  // Most post-ops violate IEEE 754, so nothing is fused that would be unfused.
  if (settings.compile.ieee) {
    settings.compile.passes.skip.push_back("fuse_epilogue");
  }
  return settings;
}

}  // namespace partita::c_api
