// Reads the models that the command line names.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/model_input.h"

#include <unistd.h>

#include <functional>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/builder/examples/models.h"
#include "graph/onnx/import.h"
#include "graph/onnx/tested_model.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "graph/text/parser.h"
#include "graph/verifier.h"
#include "tools/partita/output.h"
#include "tools/partita/recognize_file.h"
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

// The importer bounds it by the size of a tensor.
absl::StatusOr<int64_t> ParseExtent(const std::string& name,
                                    const std::string& text) {
  int64_t extent = 0;
  if (absl::SimpleAtoi(text, &extent)) return extent;
  return CalledWrongly(absl::StrCat("--dim ", name, ": found ", text,
                                    "; expected one extent, an integer, as in ",
                                    name, "=8"));
}

absl::StatusOr<ImportOptions> ReadImportOptions(const Arguments& arguments) {
  ImportOptions options;
  PARTITA_ASSIGN_OR_RETURN(const auto dims, arguments.GetBindings("dim"));
  for (const auto& [name, text] : dims) {
    PARTITA_ASSIGN_OR_RETURN(options.dims[name], ParseExtent(name, text));
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
    return CalledWrongly(absl::StrCat(
        "--", flag, ": found with ", path,
        ", whose shapes are fixed; expected an ONNX model; leave ", "it out"));
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
absl::Status WithHint(const Arguments& arguments, const absl::Status& status) {
  if (const auto given = GivenOptionOf(status); given.has_value()) {
    return CalledWrongly(
        absl::StrCat(GivingFlag(*given, arguments), ": ", status.message()));
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
  if (!module.ok()) return WithHint(arguments, module.status());
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
  if (!tested.ok()) return WithHint(arguments, tested.status());
  inputs = std::move(tested->inputs);
  return std::move(tested->module);
}

absl::StatusOr<Module> ReadGraphText(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                         file->bytes().size());
  absl::ConsumePrefix(&text, kByteOrderMark);
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ParseModule(text, path, OpSet::BuiltIn()));
  // Faults that no line of the text has: no function, or variables that it
  // does not declare.
  const absl::Status valid = VerifyModule(module);
  if (valid.ok()) return module;
  return absl::Status(
      valid.code(),
      absl::StrCat(
          path, ": ",
          absl::StrReplaceAll(valid.message(),
                              {{"\n", absl::StrCat("\n", path, ": ")}})));
}

// Examples with seeded random weights, for use without a model file.
struct BuiltIn {
  const char* name;
  absl::StatusOr<Module> (*build)();
};
constexpr BuiltIn kBuiltIn[] = {
    {"resnet50", [] { return ResNet50(); }},
    {"small_conv_net", [] { return SmallConvNet(); }},
    {"two_layer_perceptron", [] { return TwoLayerPerceptron(); }},
};

absl::StatusOr<Module> BuiltInModel(absl::string_view name) {
  std::vector<std::string> names;
  for (const BuiltIn& model : kBuiltIn) {
    if (name == model.name) return model.build();
    names.push_back(model.name);
  }
  return CalledWrongly(absl::StrCat(
      "builtin:", name,
      ": found no such model; expected one of: ", absl::StrJoin(names, ", "),
      "; for the plan of a model to train: partita train MODEL --plan FILE",
      NearestText(name, names)));
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

// A page of an error that was saved in place of a model, or another text.
absl::Status NoModel(const std::string& path, FileKind kind) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": found ", NameOf(kind),
      "; expected an ONNX model, or a graph as text, which begins with `graph "
      "@NAME` or `variable @NAME`; fetch or export the model again"));
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
  PARTITA_RETURN_IF_ERROR(CheckPrefix(path, BuiltInModels()));
  const FileKind kind = KindOfFile(path);
  if (is_built_in || kind == FileKind::kGraphText) {
    PARTITA_RETURN_IF_ERROR(RefuseImportFlags(path, arguments));
    return is_built_in ? BuiltInModel(name) : ReadGraphText(path);
  }
  if (kind == FileKind::kText || kind == FileKind::kJson) {
    return NoModel(path, kind);
  }
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options, ReadImportOptions(arguments));
  options.warn = warn;
  if (arguments.has("test-data") || arguments.has("input")) {
    return ReadTestedOnnx(path, options, arguments, inputs);
  }
  return ReadOnnx(path, arguments, options);
}

}  // namespace

absl::Status CheckPrefix(const std::string& model,
                         absl::Span<const std::string> built_in) {
  const std::string prefixed = absl::StrCat("builtin:", model);
  if (!absl::c_linear_search(built_in, prefixed) ||
      access(model.c_str(), F_OK) == 0) {
    return absl::OkStatus();
  }
  return CalledWrongly(absl::StrCat(
      model, ": found no such file; expected a model; did you mean ", prefixed,
      "?"));
}

std::vector<std::string> BuiltInModels() {
  std::vector<std::string> names;
  for (const BuiltIn& model : kBuiltIn) {
    names.push_back(absl::StrCat("builtin:", model.name));
  }
  return names;
}

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

}  // namespace partita
