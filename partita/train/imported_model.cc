// Datasets in the shapes that the module has.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/imported_model.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/inference_training.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "partita/train/batch_inputs.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

Shape WithoutBatch(const TensorType& type) {
  return Shape(type.dims.begin() + 1, type.dims.end());
}

// In f32 and the model's shape. Bytes are numbers of 0..1.
absl::StatusOr<SharedDataset> InShape(SharedDataset dataset,
                                      const std::string& field,
                                      const Shape& dims,
                                      Normalization normalization) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset->FieldIndex(field));
  if (dataset->fields()[index].type.dtype != DType::kU8) {
    normalization.divisor = 1;
  }
  normalization.dims = dims;
  return Normalize(std::move(dataset), field, normalization);
}

absl::StatusOr<SharedDataset> WithLabels(SharedDataset dataset,
                                         const TensorType& output,
                                         const std::string& loss) {
  if (HasClasses(loss)) {
    return CheckLabels(std::move(dataset), kLabelField,
                       {.num_classes = output.dims[1]});
  }
  return InShape(std::move(dataset), kLabelField, WithoutBatch(output),
                 {.divisor = 1});
}

std::string PathOf(const std::string& field,
                   const std::vector<SampleFile>& files) {
  for (const SampleFile& file : files) {
    if (file.field == field) return file.path;
  }
  return "dataset";
}

absl::StatusOr<SharedDataset> Open(const Graph& graph,
                                   const std::vector<SampleFile>& files,
                                   const ImportedModelOptions& options) {
  std::vector<ArrayFile> arrays;
  for (const SampleFile& file : files) {
    arrays.push_back({file.field, file.path, ""});
  }
  PARTITA_ASSIGN_OR_RETURN(SharedDataset dataset, OpenArrays(arrays));
  for (ValueId input : graph.inputs()) {
    // Others, as of tokens, are taken as they are (CheckBatchInputs).
    if (graph.type(input).dtype != DType::kF32) continue;
    const std::string& name = graph.value(input).name;
    absl::StatusOr<SharedDataset> shaped =
        InShape(std::move(dataset), name, WithoutBatch(graph.type(input)),
                {.mean = {static_cast<float>(options.mean)},
                 .stddev = {static_cast<float>(options.stddev)}});
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
                                       const ImportedModelOptions& options) {
  // Of the fields labels alone are checked sample by sample.
  TrainingData data = {nullptr, PathOf(kLabelField, files)};
  if (files.empty()) return data;
  PARTITA_ASSIGN_OR_RETURN(data.samples, Open(graph, files, options));
  return data;
}

}  // namespace

absl::StatusOr<TrainableModel> ImportedModel(
    Module module, const ImportedModelOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckTrainable(module, options.loss));
  const Graph& graph = module.main();
  TrainableModel model = {.samples_name = "samples",
                          .batch = graph.type(graph.outputs()[0]).dims[0]};
  PARTITA_ASSIGN_OR_RETURN(model.train,
                           OpenFiles(graph, options.train, options));
  PARTITA_ASSIGN_OR_RETURN(model.test, OpenFiles(graph, options.test, options));
  model.settings = {{"loss", options.loss},
                    {"mean", DoubleText(options.mean)},
                    {"stddev", DoubleText(options.stddev)}};
  model.build = [shared = std::make_shared<const Module>(std::move(module)),
                 loss = options.loss](const TrainingRecipe& recipe) {
    return TrainingOf(shared->Clone(), loss, recipe.update);
  };
  return model;
}

}  // namespace partita
