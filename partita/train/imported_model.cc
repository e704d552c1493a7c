// Datasets in the module's shapes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/imported_model.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/inference_training.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/channel_numbers.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/csv.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

Shape WithoutBatch(const TensorType& type) {
  return Shape(type.dims.begin() + 1, type.dims.end());
}

// In the model's dtype and shape. Bytes become 0..1.
absl::StatusOr<SharedDataset> LikeModel(SharedDataset dataset,
                                        const std::string& field,
                                        const TensorType& type,
                                        Normalization normalization) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset->FieldIndex(field));
  if (dataset->fields()[index].type.dtype != DType::kU8) {
    normalization.divisor = 1;
  }
  normalization.dims = WithoutBatch(type);
  normalization.dtype = type.dtype;
  return Normalize(std::move(dataset), field, normalization);
}

// If the output has dimensions after the classes, the classes may be in another
// dimension than the exporter believes.
absl::Status CheckLabelCount(const Dataset& dataset, const TensorType& output,
                             const TensorType& labels) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset.FieldIndex(kLabelField));
  const TensorType& found = dataset.fields()[index].type;
  const TensorType expected = {labels.dtype, WithoutBatch(labels), {}};
  if (output.rank() == 2 || found.num_elements() == expected.num_elements()) {
    return absl::OkStatus();
  }
  return BadFile(kLabelField, found.ToString(),
                 absl::StrCat("as many elements as ", expected.ToString()),
                 absl::StrCat("of the output ", output.ToString(),
                              " dimension 1 is the classes, [n, classes, "
                              "d...]: transpose it if they are another"));
}

absl::StatusOr<SharedDataset> WithLabels(SharedDataset dataset,
                                         const TensorType& output,
                                         const std::string& loss) {
  const TensorType labels = LabelsOf(output, loss);
  if (HasClasses(loss)) {
    PARTITA_RETURN_IF_ERROR(CheckLabelCount(*dataset, output, labels));
    return CheckLabels(std::move(dataset), kLabelField,
                       {.num_classes = output.dims[1],
                        .ignored = kIgnoredLabel,
                        .dims = WithoutBatch(labels)});
  }
  return LikeModel(std::move(dataset), kLabelField, labels, {.divisor = 1});
}

std::string PathOf(const std::string& field,
                   const std::vector<SampleFile>& files) {
  for (const SampleFile& file : files) {
    if (file.field == field) return file.path;
  }
  return "dataset";
}

// The words of labels, in the order of their numbers.
struct ClassNames {
  bool asked = true;  // false: labels are numbers
  std::vector<std::string> names;
};

// The names of a table's columns.
struct TableColumns {
  std::string path;
  std::vector<std::string> names;  // empty: no header
};

// What the first files define for the following ones.
struct Known {
  ClassNames classes;
  std::map<std::string, TableColumns> tables;  // by field
};

std::string NameAt(const std::vector<std::string>& names, size_t column) {
  return column < names.size() ? ColumnList({names[column]}) : "none";
}

// A column of another name is another quantity, which the model would confuse
// with the one of its training.
absl::Status CheckColumns(const SampleFile& file, CsvArrays& table,
                          Known& known) {
  const auto [first, is_new] = known.tables.try_emplace(
      file.field, TableColumns{file.path, table.feature_names});
  const std::vector<std::string>& expected = first->second.names;
  const std::vector<std::string>& found = table.feature_names;
  if (expected.empty() || found.empty() || expected == found) {
    return absl::OkStatus();
  }
  const size_t column =
      absl::c_mismatch(expected, found).first - expected.begin();
  return BadFile(
      file.path,
      absl::StrCat(NameAt(found, column), " as column ", column + 1, " of ",
                   file.field, ", where ", first->second.path, " has ",
                   NameAt(expected, column)),
      absl::StrCat("the columns of ", first->second.path,
                   " in their order: ", ColumnList(expected)),
      "name and order them as there, or take the header off both files");
}

CsvOptions WholeLabels(const std::string& column, const ClassNames& classes) {
  return {.header = std::nullopt,
          .label = column,
          .label_words = classes.asked,
          .known_words = classes.names};
}

// The labels of a table: of one column, or for numbers of all. If they are
// words that are not known yet, the table defines them.
absl::StatusOr<FileTensor> LabelsIn(const SampleFile& file,
                                    const ImportedModelOptions& options,
                                    Known& known) {
  const std::string& path = file.path;
  ClassNames& classes = known.classes;
  const bool has_classes = HasClasses(options.loss);
  if (!has_classes && options.label_column.empty()) {
    PARTITA_ASSIGN_OR_RETURN(CsvArrays table,
                             OpenCsvArrays(path, {.header = std::nullopt}));
    PARTITA_RETURN_IF_ERROR(CheckColumns(file, table, known));
    return std::move(table.features);
  }
  const bool only = options.label_column.empty();
  CsvOptions labels = WholeLabels(only ? "1" : options.label_column, classes);
  if (!has_classes) labels.label_dtype = DType::kF32;
  PARTITA_ASSIGN_OR_RETURN(CsvArrays table, OpenCsvArrays(path, labels));
  classes = {!table.words.empty(), std::move(table.words)};
  const int64_t others = table.features.type.dims[1];
  if (!only || others == 0) return *std::move(table.labels);
  return BadFile(path, absl::StrCat(others + 1, " columns"),
                 "one, or --label-column");
}

// The column of labels in the file of an input is not part of the input.
absl::StatusOr<FileTensor> OpenField(const SampleFile& file,
                                     const std::vector<SampleFile>& files,
                                     const ImportedModelOptions& options,
                                     Known& known) {
  if (!absl::EndsWith(file.path, ".csv")) {
    return OpenArray({file.field, file.path, ""});
  }
  if (file.field == kLabelField) {
    return LabelsIn(file, options, known);
  }
  std::error_code unknown;  // an error of opening is reported below
  const bool is_shared = std::filesystem::equivalent(
      file.path, PathOf(kLabelField, files), unknown);
  CsvOptions others =
      WholeLabels(is_shared ? options.label_column : "", known.classes);
  if (!HasClasses(options.loss)) others.label_dtype = DType::kF32;
  PARTITA_ASSIGN_OR_RETURN(CsvArrays table, OpenCsvArrays(file.path, others));
  PARTITA_RETURN_IF_ERROR(CheckColumns(file, table, known));
  return std::move(table.features);
}

absl::Status CheckNumberOf(const ClassNames& classes, const Graph& graph,
                           const std::vector<SampleFile>& files) {
  if (classes.names.empty()) return absl::OkStatus();
  const int64_t most = graph.type(graph.outputs()[0]).dims[1];
  const int64_t found = static_cast<int64_t>(classes.names.size());
  if (found <= most) return absl::OkStatus();
  return BadFile(PathOf(kLabelField, files),
                 absl::StrCat(found, " different labels"),
                 absl::StrCat("at most ", most, ", the model's classes"));
}

absl::StatusOr<SharedDataset> Open(const Graph& graph,
                                   const std::vector<SampleFile>& files,
                                   const ImportedModelOptions& options,
                                   Known& known) {
  std::vector<FieldArray> arrays;
  for (const SampleFile& file : files) {
    PARTITA_ASSIGN_OR_RETURN(FileTensor values,
                             OpenField(file, files, options, known));
    arrays.push_back({file.field, std::move(values)});
  }
  PARTITA_RETURN_IF_ERROR(CheckNumberOf(known.classes, graph, files));
  PARTITA_ASSIGN_OR_RETURN(SharedDataset dataset,
                           ArrayDataset(std::move(arrays)));
  for (ValueId input : graph.inputs()) {
    const TensorType& type = graph.type(input);
    // Others, such as tokens, are taken unchanged (CheckBatchInputs).
    if (!IsNormalized(type)) continue;
    const std::string& name = graph.value(input).name;
    absl::StatusOr<SharedDataset> shaped = LikeModel(
        std::move(dataset), name, type,
        {.mean = ToFloats(options.mean), .stddev = ToFloats(options.stddev)});
    if (!shaped.ok()) return AtPlace(PathOf(name, files), shaped.status());
    dataset = *std::move(shaped);
  }
  absl::StatusOr<SharedDataset> labelled = WithLabels(
      std::move(dataset), graph.type(graph.outputs()[0]), options.loss);
  if (labelled.ok()) return labelled;
  return AtPlace(PathOf(kLabelField, files), labelled.status());
}

absl::StatusOr<TrainingData> OpenFiles(const Graph& graph,
                                       const std::vector<SampleFile>& files,
                                       const ImportedModelOptions& options,
                                       Known& known) {
  // Only the labels are checked sample by sample.
  TrainingData data = {nullptr, PathOf(kLabelField, files)};
  if (files.empty()) return data;
  PARTITA_ASSIGN_OR_RETURN(data.samples, Open(graph, files, options, known));
  return data;
}

}  // namespace

bool IsNormalized(const TensorType& input) {
  return input.dtype == DType::kF32 || input.dtype == DType::kF64;
}

absl::StatusOr<TrainableModel> ImportedModel(
    Module module, const ImportedModelOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckTrainable(module, options.loss));
  const Graph& graph = module.main();
  TrainableModel model = {.sample_noun = "sample",
                          .batch = graph.type(graph.outputs()[0]).dims[0]};
  Known known;
  PARTITA_ASSIGN_OR_RETURN(model.train,
                           OpenFiles(graph, options.train, options, known));
  // The test set uses the words of the training set.
  known.classes.asked = !known.classes.names.empty();
  PARTITA_ASSIGN_OR_RETURN(model.test,
                           OpenFiles(graph, options.test, options, known));
  model.class_names = known.classes.names;
  model.settings = {{"loss", options.loss},
                    {"mean", DoublesText(options.mean)},
                    {"stddev", DoublesText(options.stddev)}};
  if (!model.class_names.empty()) {
    model.settings.push_back(
        {"classes", absl::StrJoin(model.class_names, ", ")});
  }
  model.inference = std::make_shared<const Module>(std::move(module));
  model.build = [imported = model.inference, loss = options.loss,
                 shards =
                     options.batch_norm_shards](const TrainingRecipe& recipe) {
    return TrainingOf(imported->Clone(), loss, recipe.update, shards);
  };
  return model;
}

}  // namespace partita
