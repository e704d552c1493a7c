// Reads the models that the command line names.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/model_input.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/import.h"
#include "graph/onnx/tested_model.h"
#include "graph/status_macros.h"
#include "tools/partita/output.h"
#include "tools/partita/tensor_file.h"

namespace partita {
namespace {

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
  if (!tested.ok()) return tested.status();
  inputs = std::move(tested->inputs);
  return std::move(tested->module);
}

absl::StatusOr<Module> ImportWithHints(const std::string& path,
                                       const ImportOptions& options,
                                       const Arguments& arguments) {
  absl::StatusOr<Module> module = ImportOnnx(path, options);
  if (!module.ok()) return WithFlagHint(arguments, module.status());
  return module;
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

std::function<void(absl::string_view)> WarningsOf(const std::string& path) {
  return [path](absl::string_view text) {
    WriteWarning(absl::StrCat(path, ": ", text));
  };
}

absl::StatusOr<Module> ReadModelOf(
    const Arguments& arguments,
    const std::function<void(absl::string_view)>& warn, TestInputs& inputs) {
  if (!arguments.has("test-data") && !arguments.has("input")) {
    return ReadModelFile(arguments, warn, ImportOnnx);
  }
  return ReadModelFile(
      arguments, warn,
      [&](const std::string& path, const ImportOptions& options) {
        return ReadTestedOnnx(path, options, arguments, inputs);
      });
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
  return ImportWithHints(path, options, arguments);
}

absl::StatusOr<Module> ReadRebatchedOnnx(const std::string& path,
                                         const Arguments& arguments,
                                         int64_t batch) {
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options,
                           ReadTrainedOptions(arguments));
  options.batch = batch;
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ImportWithHints(path, options, arguments));
  const Graph& graph = module.main();
  for (const auto& values : {graph.inputs(), graph.outputs()}) {
    for (ValueId value : values) {
      PARTITA_RETURN_IF_ERROR(CheckBatch(path, graph, value, batch));
    }
  }
  return module;
}

}  // namespace partita
