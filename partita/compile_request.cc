// Checks requests, and finds the strategies that they name.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile_request.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "partita/micro_batch_counts.h"

namespace partita {
namespace {

// Not one of Planners(), since it chooses among the plans of all others.
constexpr char kAuto[] = "auto";
constexpr char kData[] = "data";  // names in Planners()
constexpr char kSearch[] = "search";

// InvalidArgument about an option, whose name starts the message.
absl::Status Refused(absl::string_view option, absl::string_view message) {
  return OfOption(option,
                  absl::InvalidArgumentError(absl::StrCat(option, message)));
}

// An option that is given, and the strategy that declares it.
struct GivenOption {
  const StrategyOption* option;
  const Planner* planner;
};

std::vector<GivenOption> GivenOptions(const PlannerOptions& options) {
  std::vector<GivenOption> given;
  for (const Planner& planner : Planners()) {
    for (const StrategyOption& option : planner.options) {
      if (IsGiven(option, options)) given.push_back({&option, &planner});
    }
  }
  return given;
}

bool HasPins(const Module& module, const CompileOptions& options) {
  const auto is_placed = [](const OpView& op) {
    return op.node().placement.placed();
  };
  return !options.pins.empty() ||
         absl::c_any_of(module.functions(), [&](const auto& function) {
           return absl::c_any_of(function->ops(), is_placed);
         });
}

// True if the user pinned a node to several devices, by `on` in a graph's text
// too.
bool PinsReplicate(const Module& module, const CompileOptions& options) {
  const auto is_replicated = [](const OpView& op) {
    return op.node().placement.devices.size() > 1;
  };
  const auto to_several = [](const Pin& pin) { return pin.devices.size() > 1; };
  return absl::c_any_of(options.pins, to_several) ||
         absl::c_any_of(module.functions(), [&](const auto& function) {
           return absl::c_any_of(function->ops(), is_replicated);
         });
}

absl::Status CheckRowMajor(const TensorType& type, absl::string_view where) {
  if (type.layout.is_row_major()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": found layout ", type.layout.ToString(),
                   "; expected row-major, as layouts are chosen while "
                   "compiling; leave it out"));
}

absl::Status CheckSourceNode(const OpView& op, absl::string_view where) {
  if (op.op().traits.placed_only) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": found ", op.op_name(),
        ", which only the compiler inserts; expected none; remove it"));
  }
  for (int i = 0; i < op.num_results(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckRowMajor(op.result_type(i), where));
  }
  return absl::OkStatus();
}

// The input of that name; invalid if there is none.
ValueId FindInput(const Graph& function, absl::string_view name) {
  for (ValueId input : function.inputs()) {
    if (function.value(input).name == name) return input;
  }
  return {};
}

absl::Status NoSuchInput(const Module& module, absl::string_view name) {
  std::vector<std::string> names;
  for (const auto& function : module.functions()) {
    for (ValueId input : function->inputs()) {
      const std::string& other = function->value(input).name;
      if (!absl::c_linear_search(names, other)) names.push_back(other);
    }
  }
  return Refused(
      "batch-input",
      absl::StrCat(": found ", name, ", which is no input; expected one of: ",
                   absl::StrJoin(names, ", ")));
}

absl::Status CheckOneBatch(const Graph& function,
                           absl::Span<const std::string> names) {
  const Value* first = nullptr;
  for (const std::string& name : names) {
    const ValueId id = FindInput(function, name);
    if (!id.valid()) continue;
    const Value& input = function.value(id);
    const std::string found = absl::StrCat(" of @", function.name(), ": found ",
                                           name, " ", input.type.ToString());
    if (input.type.rank() == 0) {
      return Refused("batch-input",
                     absl::StrCat(found,
                                  ", which has no dimension; expected inputs "
                                  "whose first one is the batch"));
    }
    if (first == nullptr) first = &input;
    if (first->type.dims[0] == input.type.dims[0]) continue;
    return Refused(
        "batch-input",
        absl::StrCat(found, " with ", first->name, " ", first->type.ToString(),
                     "; expected inputs of one first extent, the "
                     "batch"));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<UnreadOption> FindUnreadOption(const CompileOptions& options) {
  const bool is_auto = options.strategy == kAuto;
  for (const auto& [option, planner] : GivenOptions(options.planner)) {
    if (options.strategy == planner->name) continue;
    if (!option->read_by_auto) return UnreadOption{option->name, planner->name};
    if (is_auto) continue;
    return UnreadOption{option->name,
                        absl::StrCat(kAuto, " or ", planner->name)};
  }
  return std::nullopt;
}

std::vector<ImplyingOption> ImplyingOptions(const CompileOptions& options) {
  std::vector<ImplyingOption> implying;
  for (const auto& [option, planner] : GivenOptions(options.planner)) {
    if (option->read_by_auto) continue;
    implying.push_back({option->name, planner->name});
  }
  return implying;
}

ObjectiveChoice ObjectiveOf(const CompileOptions& options) {
  const ObjectiveChoice usual = {options.depth > 1 ? Goal::kThroughput
                                                   : Goal::kLatency};
  return options.planner.objective.value_or(usual);
}

absl::Status CheckRequest(const Machine& machine,
                          const CompileOptions& options) {
  if (options.depth < 1 || options.depth > kMostDepth) {
    return Refused("depth", absl::StrCat(": found ", options.depth,
                                         "; expected 1..", kMostDepth));
  }
  const int micro_batches = options.micro_batches.value_or(1);
  if (micro_batches < 1 || micro_batches > kMostMicroBatches) {
    return Refused("micro-batches",
                   absl::StrCat(": found ", micro_batches, "; expected 1..",
                                kMostMicroBatches));
  }
  if (const auto unread = FindUnreadOption(options); unread.has_value()) {
    return Refused(unread->name,
                   absl::StrCat(": found with strategy ", options.strategy,
                                ", which does not read it; expected strategy ",
                                unread->readers));
  }
  for (const auto& [option, planner] : GivenOptions(options.planner)) {
    PARTITA_RETURN_IF_ERROR(CheckRange(*option, options.planner));
  }
  if (machine.devices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "machine ", machine.name, ": found no device; expected at least one"));
  }
  const std::string& device = options.output_device;
  if (!device.empty() && machine.FindDevice(device) == nullptr) {
    return Refused(
        "output-device",
        absl::StrCat(" ", device,
                     ": found no such device in this machine; expected one of ",
                     machine.DeviceNames()));
  }
  return absl::OkStatus();
}

absl::Status CheckBuckets(const Module& module, const Machine& machine,
                          const CompileOptions& options) {
  if (!options.bucket_bytes.has_value() || PinsReplicate(module, options)) {
    return absl::OkStatus();
  }
  std::string found;
  if (options.strategy != kAuto && options.strategy != kData &&
      options.strategy != kSearch) {
    found = absl::StrCat("strategy ", options.strategy);
  } else if (machine.devices.size() == 1) {
    found = "a machine of one device";
  } else {
    return absl::OkStatus();
  }
  return Refused(
      "bucket-size",
      absl::StrCat(": found with ", found, ", where no gradients are ",
                   "reduced; expected strategy data, search or auto on ",
                   "several devices, or pins to several; leave it out"));
}

bool ChoosesStep(const Module& module, const Machine& machine,
                 const CompileOptions& options) {
  const bool is_open =
      !options.micro_batches.has_value() ||
      (*options.micro_batches > 1 && !options.schedule.has_value()) ||
      !options.bucket_bytes.has_value();
  const bool matters =
      machine.devices.size() > 1 || ObjectiveOf(options).goal == Goal::kMemory;
  const bool chooses = options.strategy == kAuto || options.strategy == kSearch;
  return is_open && matters && chooses && Trains(module);
}

absl::Status CheckSchedule(const Module& module, const Machine& machine,
                           const CompileOptions& options) {
  if (!options.schedule.has_value()) return absl::OkStatus();
  const bool may_have = options.micro_batches.has_value()
                            ? *options.micro_batches > 1
                            : ChoosesStep(module, machine, options);
  if (may_have) return absl::OkStatus();
  return Refused("pipeline-schedule",
                 ": found one without micro-batches; expected two or more "
                 "micro-batches");
}

absl::Status CheckBatchInputs(const Module& module,
                              absl::Span<const std::string> batch_inputs) {
  for (const std::string& name : batch_inputs) {
    const bool found =
        absl::c_any_of(module.functions(), [&](const auto& function) {
          return FindInput(*function, name).valid();
        });
    if (!found) return NoSuchInput(module, name);
  }
  for (const auto& function : module.functions()) {
    PARTITA_RETURN_IF_ERROR(CheckOneBatch(*function, batch_inputs));
  }
  return absl::OkStatus();
}

absl::Status CheckSource(const Module& module) {
  for (const Variable& variable : module.variables()) {
    if (variable.initial.valid()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "variable @", variable.name, ": found no initial value; expected one ",
        "of ", variable.type.ToString(),
        "; write `= ", variable.type.ToString(), " [...]` after its type"));
  }
  for (const auto& function : module.functions()) {
    const std::string where = absl::StrCat("@", function->name(), ": ");
    for (ValueId input : function->inputs()) {
      const Value& value = function->value(input);
      PARTITA_RETURN_IF_ERROR(CheckRowMajor(
          value.type, absl::StrCat(where, "input %", value.name)));
    }
    for (const OpView& op : function->ops()) {
      PARTITA_RETURN_IF_ERROR(
          CheckSourceNode(op, absl::StrCat(where, op.ToString())));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Planner>> PlannersFor(
    const Module& module, const CompileOptions& options) {
  const std::string& strategy = options.strategy;
  const bool has_pins = HasPins(module, options);
  std::vector<Planner> planners;
  std::vector<std::string> names = {kAuto};
  for (const Planner& planner : Planners()) {
    names.push_back(planner.name);
    const bool tried = strategy == kAuto && (!planner.needs_pins || has_pins);
    if (tried || strategy == planner.name) planners.push_back(planner);
  }
  if (!planners.empty()) return planners;
  return Refused(
      "strategy",
      absl::StrCat(" ", strategy, ": found no such strategy; expected ",
                   "one of: ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::vector<Planner>> QuickPlanners(
    const Module& module, const CompileOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  std::vector<Planner> quick;
  for (const Planner& planner : planners) {
    if (!planner.lowers_many) quick.push_back(planner);
  }
  return quick;
}

}  // namespace partita
