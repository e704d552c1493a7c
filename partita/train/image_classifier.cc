// Joins datasets of images with the networks that read them.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/image_classifier.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "partita/train/channel_numbers.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// Null if there are no files.
absl::StatusOr<TrainingData> Open(const ImageFiles& files,
                                  const ImageClassifierOptions& options,
                                  const Shape& dims, int64_t classes) {
  TrainingData data = {nullptr, files.labels};
  if (files.images.empty()) return data;
  PARTITA_ASSIGN_OR_RETURN(
      data.samples, OpenLabelledImages({.files = files,
                                        .dims = dims,
                                        .classes = classes,
                                        .mean = ToFloats(options.mean),
                                        .stddev = ToFloats(options.stddev)}));
  return data;
}

std::vector<TrainingSetting> NormalizationOf(
    const ImageClassifierOptions& options) {
  return {{"mean", DoublesText(options.mean)},
          {"stddev", DoublesText(options.stddev)}};
}

// [channels, side, side], the file's own.
absl::StatusOr<Shape> ImageDims(const ImageClassifierOptions& options,
                                int64_t classes) {
  PARTITA_ASSIGN_OR_RETURN(const TrainingData data,
                           Open(options.train, options, {}, classes));
  PARTITA_ASSIGN_OR_RETURN(const int field,
                           data.samples->FieldIndex(kImageField));
  const TensorType& type = data.samples->fields()[field].type;
  Shape dims = type.dims;
  if (dims.size() == 2) dims.insert(dims.begin(), 1);
  if (dims.size() == 3 && dims[1] == dims[2]) return dims;
  return BadFile(options.train.images, "images " + type.ToString(),
                 "[side, side] or [channels, side, side]",
                 "transpose or cut them");
}

}  // namespace

absl::StatusOr<TrainableModel> MnistModel(const ImageClassifierOptions& options,
                                          double dropout) {
  const Shape dims = {1, 28, 28};
  TrainableModel model = {.sample_noun = "image", .batch = options.batch};
  PARTITA_ASSIGN_OR_RETURN(model.train, Open(options.train, options, dims, 10));
  PARTITA_ASSIGN_OR_RETURN(model.test, Open(options.test, options, dims, 10));
  model.settings = NormalizationOf(options);
  model.settings.push_back({"dropout", DoubleText(dropout)});
  model.build = [batch = options.batch, dropout](const TrainingRecipe& recipe) {
    return MnistTraining({.batch = batch,
                          .update = recipe.update,
                          .dropout = dropout,
                          .seed = recipe.seed});
  };
  model.rebatched = [](int64_t batch) {
    return MnistTraining({.batch = batch});
  };
  return model;
}

absl::StatusOr<TrainableModel> ResNet18Model(
    const ImageClassifierOptions& options, int64_t classes,
    int batch_norm_shards) {
  PARTITA_ASSIGN_OR_RETURN(const Shape dims, ImageDims(options, classes));
  TrainableModel model = {.sample_noun = "image", .batch = options.batch};
  PARTITA_ASSIGN_OR_RETURN(model.train,
                           Open(options.train, options, dims, classes));
  PARTITA_ASSIGN_OR_RETURN(model.test,
                           Open(options.test, options, dims, classes));
  model.settings = NormalizationOf(options);
  model.settings.push_back({"classes", absl::StrCat(classes)});
  model.build = [batch = options.batch, dims, classes,
                 batch_norm_shards](const TrainingRecipe& recipe) {
    return ResNet18Training({.batch = batch,
                             .channels = dims[0],
                             .image = dims[1],
                             .classes = classes,
                             .update = recipe.update,
                             .batch_norm_shards = batch_norm_shards,
                             .seed = recipe.seed});
  };
  model.rebatched = [dims, classes](int64_t batch) {
    return ResNet18Training({.batch = batch,
                             .channels = dims[0],
                             .image = dims[1],
                             .classes = classes});
  };
  return model;
}

}  // namespace partita
