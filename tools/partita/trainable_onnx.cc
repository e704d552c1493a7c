// Reads the flags of an ONNX model.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/trainable_onnx.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/inference_training.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/imported_model.h"
#include "runtime/tensor_file/bad_file.h"
#include "tools/partita/model_input.h"
#include "tools/partita/train_model_flags.h"

namespace partita {
namespace {

// The files of the inputs, from `flag`, and of the labels.
absl::StatusOr<std::vector<SampleFile>> ReadFiles(const Module& module,
                                                  const Arguments& arguments,
                                                  const std::string& flag,
                                                  const std::string& labels) {
  PARTITA_ASSIGN_OR_RETURN(const auto bindings,
                           arguments.GetBindings(flag, BindingValue::kPath));
  std::map<std::string, std::string> paths(bindings.begin(), bindings.end());
  std::vector<SampleFile> files;
  std::vector<std::string> names;
  for (ValueId input : module.main().inputs()) {
    const std::string& name = module.main().value(input).name;
    names.push_back(name);
    const auto path = paths.find(name);
    if (path == paths.end()) {
      return CalledWrongly(
          absl::StrCat("train: found no --", flag, " ", name,
                       "=FILE; expected an IDX, .npy, .npz or ",
                       ".csv file for each input of the model"));
    }
    files.push_back({name, path->second});
    paths.erase(path);
  }
  if (!paths.empty()) {
    return CalledWrongly(absl::StrCat(
        "--", flag, ": found ", paths.begin()->first, "; expected one of ",
        absl::StrJoin(names, ", "), ", the model's inputs"));
  }
  PARTITA_RETURN_IF_ERROR(CheckGiven(arguments, {labels.c_str()}));
  files.push_back({kLabelField, arguments.Get(labels, "")});
  return files;
}

// Only a table of labels has columns.
absl::Status CheckLabelColumn(const Arguments& arguments) {
  const auto is_table = [&](const char* labels) {
    return absl::EndsWith(arguments.Get(labels, ""), ".csv");
  };
  if (!arguments.has("label-column") || is_table("labels") ||
      is_table("test-labels")) {
    return absl::OkStatus();
  }
  return CalledWrongly(absl::StrCat(
      "--label-column: found with --labels ", arguments.Get("labels", ""),
      ", which is no table; expected a .csv file"));
}

absl::Status CheckNormalized(const Module& module, const Arguments& arguments) {
  const Graph& graph = module.main();
  const bool takes = absl::c_any_of(graph.inputs(), [&](ValueId input) {
    return IsNormalized(graph.type(input));
  });
  for (const char* flag : {"mean", "stddev"}) {
    if (takes || !arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat(
        "--", flag, ": found with inputs that are neither f32 nor f64, ",
        "which are taken as they are; expected one that is; leave it out"));
  }
  return absl::OkStatus();
}

absl::Status CheckLoss(const std::string& loss, const Arguments& arguments) {
  if (!arguments.has("label-smoothing") || HasClasses(loss)) {
    return absl::OkStatus();
  }
  return CalledWrongly(absl::StrCat(
      "--label-smoothing: found with --loss ", loss,
      ", which has no classes; expected --loss cross-entropy or nll"));
}

absl::StatusOr<ImportedModelOptions> ReadOptions(const Module& module,
                                                 const Arguments& arguments) {
  ImportedModelOptions options;
  options.loss = arguments.Get("loss", options.loss);
  PARTITA_RETURN_IF_ERROR(CheckLoss(options.loss, arguments));
  PARTITA_RETURN_IF_ERROR(CheckNormalized(module, arguments));
  options.label_column = arguments.Get("label-column", "");
  PARTITA_ASSIGN_OR_RETURN(options.train,
                           ReadFiles(module, arguments, "input", "labels"));
  if (arguments.has("test-input") || arguments.has("test-labels")) {
    PARTITA_ASSIGN_OR_RETURN(
        options.test,
        ReadFiles(module, arguments, "test-input", "test-labels"));
  }
  PARTITA_RETURN_IF_ERROR(CheckLabelColumn(arguments));
  PARTITA_RETURN_IF_ERROR(
      ReadNormalization(arguments, options.mean, options.stddev));
  if (HasRunningStatistics(module) || arguments.has("batch-norm")) {
    PARTITA_ASSIGN_OR_RETURN(options.batch_norm_shards,
                             ReadBatchNormParts(arguments));
  }
  return options;
}

}  // namespace

absl::StatusOr<TrainableModel> ReadTrainableOnnx(const Arguments& arguments) {
  const std::string& path = arguments.positional()[0];
  PARTITA_ASSIGN_OR_RETURN(Module module, ReadTrainedOnnx(path, arguments));
  PARTITA_ASSIGN_OR_RETURN(const ImportedModelOptions options,
                           ReadOptions(module, arguments));
  PARTITA_ASSIGN_OR_RETURN(TrainableModel model,
                           ImportedModel(std::move(module), options));
  PARTITA_RETURN_IF_ERROR(AddBatchNormSettings(options.batch_norm_shards,
                                               "bind it by --dim to", model));
  model.rebatched = [arguments](int64_t batch) {
    return ReadRebatchedOnnx(arguments.positional()[0], arguments, batch);
  };
  return model;
}

}  // namespace partita
