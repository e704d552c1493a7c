// Reads what the command line names.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/model_input.h"

#include <functional>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/builder/examples/models.h"
#include "graph/onnx/import.h"
#include "graph/onnx/tested_model.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "graph/text/parser.h"
#include "partita/compile_request.h"
#include "placement/machine/detect_host.h"
#include "placement/planner/planner.h"
#include "tools/partita/output.h"
#include "tools/partita/plan_input.h"
#include "tools/partita/tensor_file.h"

namespace partita {
namespace {

absl::StatusOr<std::vector<Number>> ParseNumbers(absl::string_view flag,
                                                 absl::string_view text) {
  std::vector<Number> values;
  if (text.empty()) return values;  // an input without elements
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    if (ParseNumber(absl::StripAsciiWhitespace(part), values.emplace_back())) {
      continue;
    }
    return CalledWrongly(
        absl::StrCat("--", flag, ": found ", part, "; expected numbers"));
  }
  return values;
}

absl::StatusOr<ImportOptions> ReadImportOptions(const Arguments& arguments) {
  ImportOptions options;
  PARTITA_ASSIGN_OR_RETURN(const auto dims, arguments.GetBindings("dim"));
  for (const auto& [name, text] : dims) {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> extent,
                             ParseInts("dim", text));
    if (extent.size() != 1) {
      return CalledWrongly(absl::StrCat("--dim ", name, ": found ", text,
                                        "; expected one extent"));
    }
    options.dims[name] = extent[0];
  }
  PARTITA_ASSIGN_OR_RETURN(const auto shapes, arguments.GetBindings("shape"));
  for (const auto& [input, text] : shapes) {
    // A missing number must differ from an empty list.
    PARTITA_ASSIGN_OR_RETURN(
        options.shapes[input],
        ParseInts("shape", text == "scalar" ? "" : absl::string_view(text)));
  }
  PARTITA_ASSIGN_OR_RETURN(const auto values,
                           arguments.GetBindings("bind", BindingValue::kList));
  for (const auto& [input, text] : values) {
    PARTITA_ASSIGN_OR_RETURN(options.values[input], ParseNumbers("bind", text));
  }
  options.strict_types = arguments.has("strict-types");
  return options;
}

// These models have fixed shapes, which no flag changes.
absl::Status RefuseImportFlags(const std::string& path,
                               const Arguments& arguments) {
  for (const char* flag : {"dim", "shape", "bind", "strict-types"}) {
    if (!arguments.has(flag)) continue;
    return CalledWrongly(
        absl::StrCat("--", flag, ": found with ", path,
                     ", whose shapes are fixed; expected an ONNX model"));
  }
  return absl::OkStatus();
}

// The flag that fixes an error of the importer.
absl::string_view FlagHint(ImportOption option) {
  switch (option) {
    case ImportOption::kDims:
      return "; bind them by --dim NAME=N or --shape INPUT=N,N,..";
    case ImportOption::kShapes:
      return "; bind it by --shape INPUT=N,N,..";
    case ImportOption::kValues:
      return "; bind it by --bind INPUT=V,V,..";
    case ImportOption::kGivenExtents:
      return "; the inputs' extents were given: if the model computes with "
             "others only, give those by --dim NAME=N or --shape INPUT=N,N,..";
    case ImportOption::kStrictTypes:
      return "; without --strict-types it is a warning";
    case ImportOption::kInputs:
      return "";
  }
  return "";
}

// The flag that gave what an error is about, with its value: "--dim batch=8".
// Shapes come from files too.
std::string GivingFlag(const GivenOption& given, const Arguments& arguments) {
  const char* flag = given.option == ImportOption::kDims     ? "dim"
                     : given.option == ImportOption::kValues ? "bind"
                     : given.option == ImportOption::kShapes ? "shape"
                                                             : "input";
  for (const char* candidate : {flag, "input"}) {
    for (const std::string& text : arguments.GetAll(candidate)) {
      if (!absl::StartsWith(text, absl::StrCat(given.name, "="))) continue;
      return absl::StrCat("--", candidate, " ", text);
    }
  }
  return absl::StrCat("--test-data ", arguments.Get("test-data", ""));
}

// In terms of flags.
absl::Status WithHint(const std::string& path, const Arguments& arguments,
                      const absl::Status& status) {
  if (const auto given = GivenOptionOf(status); given.has_value()) {
    return CalledWrongly(
        absl::StrCat(GivingFlag(*given, arguments), ": ", status.message()));
  }
  if (absl::IsInvalidArgument(status) && IsPlan(path).value_or(false)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a plan, which is compiled already; ",
                     "expected a model; run it: partita run ", path));
  }
  const std::optional<ImportOption> option = RemedyOption(status);
  if (!option.has_value()) return status;
  return ReplaceMessage(status,
                        absl::StrCat(status.message(), FlagHint(*option)));
}

absl::StatusOr<Module> ReadOnnx(const std::string& path,
                                const Arguments& arguments,
                                const ImportOptions& options) {
  absl::StatusOr<Module> module = ImportOnnx(path, options);
  if (!module.ok()) return WithHint(path, arguments, module.status());
  return module;
}

// The files of --input.
absl::StatusOr<std::map<std::string, HostTensor>> ReadNamedInputs(
    const Arguments& arguments, const ImportOptions& options) {
  std::map<std::string, HostTensor> tensors;
  PARTITA_ASSIGN_OR_RETURN(const auto files,
                           arguments.GetBindings("input", BindingValue::kPath));
  for (const auto& [name, path] : files) {
    if (options.values.contains(name)) {
      return CalledWrongly(
          absl::StrCat("--input: found ", name,
                       ", which --bind gives too; expected one of them"));
    }
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensor(path));
    tensors.insert_or_assign(name, std::move(tensor));
  }
  return tensors;
}

// For the data that the command line names, which are stored in `inputs`.
absl::StatusOr<Module> ReadTestedOnnx(const std::string& path,
                                      const ImportOptions& options,
                                      const Arguments& arguments,
                                      TestInputs& inputs) {
  absl::StatusOr<TestedModel> tested;
  if (arguments.has("test-data")) {
    tested = ImportForTestData(path, options, arguments.Get("test-data", ""));
  } else {
    PARTITA_ASSIGN_OR_RETURN(auto named, ReadNamedInputs(arguments, options));
    tested = ImportForInputs(path, options, std::move(named));
  }
  if (!tested.ok()) return WithHint(path, arguments, tested.status());
  inputs = std::move(tested->inputs);
  return std::move(tested->module);
}

absl::StatusOr<Module> ReadGraphText(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const absl::Span<const std::byte> bytes = file->bytes();
  return ParseModule(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                        bytes.size()),
      path, OpSet::BuiltIn());
}

// Examples with seeded random weights, for use without a model file.
absl::StatusOr<Module> BuiltInModel(absl::string_view name) {
  if (name == "resnet50") return ResNet50();
  if (name == "small_conv_net") return SmallConvNet();
  if (name == "two_layer_perceptron") return TwoLayerPerceptron();
  return CalledWrongly(absl::StrCat(
      "builtin:", name, ": found no such model; expected resnet50, ",
      "small_conv_net or two_layer_perceptron",
      NearestText(name, {"resnet50", "small_conv_net", "two_layer_perceptron"}),
      "; for the plan of a model to train: partita train MODEL --plan FILE"));
}

absl::StatusOr<ImportOptions> ReadTrainedOptions(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options, ReadImportOptions(arguments));
  options.function = "train";
  options.weights_as_variables = true;
  return options;
}

absl::Status CheckBatch(const std::string& path, const Graph& graph,
                        ValueId value, int64_t batch) {
  const TensorType& type = graph.type(value);
  if (type.rank() > 0 && type.dims[0] == batch) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", graph.value(value).name, ": found ", type.ToString(),
      ", whose batch is fixed in the file; expected dimension 0 to be ", batch,
      "; export the model with an open dimension 0, in PyTorch by ",
      "dynamic_axes"));
}

absl::Status ReadOption(const StrategyOption& option,
                        const Arguments& arguments, PlannerOptions& options) {
  if (!arguments.has(option.name)) return absl::OkStatus();
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
    return CalledWrongly(absl::StrCat(
        "--", other.name, ": found it, which means --strategy ", other.strategy,
        ", with --", implying[0].name, ", which means --strategy ",
        options.strategy, "; expected one of them"));
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
          : absl::StrCat("--", implying[0].name, ", which means --strategy ",
                         options.strategy);
  return CalledWrongly(absl::StrCat(
      "--", unread->name, ": found it with ", found,
      ", which does not read it; expected ", "--strategy ", unread->readers));
}

absl::Status CheckScheduleHasParts(const CompileOptions& options) {
  if (!options.schedule.has_value() || options.micro_batches > 1) {
    return absl::OkStatus();
  }
  return CalledWrongly(
      "--pipeline-schedule: found it without --micro-batches; expected two or "
      "more micro-batches");
}

absl::StatusOr<Pin> ReadPin(const std::string& text) {
  PARTITA_ASSIGN_OR_RETURN(const auto binding, SplitBinding("pin", text));
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
        "--pin ", text, ": found ", binding.second,
        "; expected devices, and how to split nodes over them, as in ",
        "gpu:0,gpu:1/split0"));
  }
  return pin;
}

std::function<void(absl::string_view)> WarningsOf(const std::string& path) {
  return [path](absl::string_view text) {
    WriteWarning(absl::StrCat(path, ": ", text));
  };
}

absl::StatusOr<Module> ReadModelOf(
    const Arguments& arguments,
    const std::function<void(absl::string_view)>& warn, TestInputs& inputs) {
  const std::string& path = arguments.positional()[0];
  absl::string_view name = path;
  const bool is_built_in = absl::ConsumePrefix(&name, "builtin:");
  if (is_built_in || absl::EndsWith(path, ".graph")) {
    PARTITA_RETURN_IF_ERROR(RefuseImportFlags(path, arguments));
    return is_built_in ? BuiltInModel(name) : ReadGraphText(path);
  }
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options, ReadImportOptions(arguments));
  options.warn = warn;
  if (arguments.has("test-data") || arguments.has("input")) {
    return ReadTestedOnnx(path, options, arguments, inputs);
  }
  return ReadOnnx(path, arguments, options);
}

}  // namespace

absl::StatusOr<Module> ReadModel(const Arguments& arguments,
                                 TestInputs& inputs) {
  return ReadModelOf(arguments, WarningsOf(arguments.positional()[0]), inputs);
}

absl::StatusOr<Module> ReadModel(const Arguments& arguments) {
  TestInputs inputs;
  return ReadModel(arguments, inputs);
}

absl::StatusOr<Module> ReadModelAgain(const Arguments& arguments) {
  TestInputs inputs;
  return ReadModelOf(arguments, nullptr, inputs);
}

absl::StatusOr<Module> ReadTrainedOnnx(const std::string& path,
                                       const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options,
                           ReadTrainedOptions(arguments));
  options.warn = WarningsOf(path);
  return ReadOnnx(path, arguments, options);
}

absl::StatusOr<Module> ReadRebatchedOnnx(const std::string& path,
                                         const Arguments& arguments,
                                         int64_t batch) {
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options,
                           ReadTrainedOptions(arguments));
  options.batch = batch;
  PARTITA_ASSIGN_OR_RETURN(Module module, ReadOnnx(path, arguments, options));
  const Graph& graph = module.main();
  for (const auto& values : {graph.inputs(), graph.outputs()}) {
    for (ValueId value : values) {
      PARTITA_RETURN_IF_ERROR(CheckBatch(path, graph, value, batch));
    }
  }
  return module;
}

absl::StatusOr<Machine> ReadMachineFlag(const Arguments& arguments) {
  if (!arguments.has("machine")) return DetectHost();
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

std::vector<std::string> GoalNames() { return {"latency", "throughput"}; }

std::vector<std::string> PipelineScheduleNames() { return {"1f1b", "gpipe"}; }

absl::StatusOr<CompileOptions> ReadCompileOptions(const Arguments& arguments) {
  CompileOptions options;
  if (arguments.has("goal")) {
    options.goal = arguments.Get("goal", "") == "latency" ? Goal::kLatency
                                                          : Goal::kThroughput;
  }
  for (const std::string& text : arguments.GetAll("pin")) {
    PARTITA_ASSIGN_OR_RETURN(Pin pin, ReadPin(text));
    options.pins.push_back(std::move(pin));
  }
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
  options.micro_batches = static_cast<int>(micro_batches);
  options.batch_inputs = arguments.GetAll("batch-input");
  if (arguments.has("pipeline-schedule")) {
    options.schedule = arguments.Get("pipeline-schedule", "") == "gpipe"
                           ? PipelineSchedule::kGPipe
                           : PipelineSchedule::kOneForwardOneBackward;
  }
  PARTITA_RETURN_IF_ERROR(ReadStrategy(arguments, options));
  PARTITA_RETURN_IF_ERROR(CheckStrategyReads(arguments, options));
  PARTITA_RETURN_IF_ERROR(CheckScheduleHasParts(options));
  PARTITA_ASSIGN_OR_RETURN(const int64_t depth,
                           arguments.GetInt("depth", 1, 1, kMostDepth));
  options.depth = static_cast<int>(depth);
  options.passes.skip = arguments.GetAll("skip");
  options.ieee = arguments.has("ieee");
  // Most post-ops violate IEEE 754, so nothing is fused that would be unfused.
  if (options.ieee) options.passes.skip.push_back("fuse_epilogue");
  options.passes.dump_folder = arguments.Get("dump", "");
  return options;
}

}  // namespace partita
