// Reads the flags of each model.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/trainable_models.h"

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "partita/train/image_classifier.h"
#include "partita/train/text_model.h"
#include "tools/partita/model_input.h"
#include "tools/partita/train_model_flags.h"
#include "tools/partita/train_request.h"
#include "tools/partita/trainable_onnx.h"

namespace partita {
namespace {

constexpr int64_t kMaxSample = 1 << 20;

// The parameters are what differs between networks.
absl::StatusOr<ImageClassifierOptions> ReadImages(
    const Arguments& arguments, ImageClassifierOptions options) {
  PARTITA_RETURN_IF_ERROR(CheckGiven(arguments, {"images", "labels"}));
  if (arguments.has("test-images") || arguments.has("test-labels")) {
    PARTITA_RETURN_IF_ERROR(
        CheckGiven(arguments, {"test-images", "test-labels"}));
  }
  options.train = {arguments.Get("images", ""), arguments.Get("labels", "")};
  options.test = {arguments.Get("test-images", ""),
                  arguments.Get("test-labels", "")};
  PARTITA_ASSIGN_OR_RETURN(
      options.batch,
      arguments.GetInt("batch", options.batch, 1, kMaxModelSize));
  PARTITA_RETURN_IF_ERROR(
      ReadNormalization(arguments, options.mean, options.stddev));
  return options;
}

constexpr absl::string_view kMnistFlags[] = {"images", "labels",  "test-images",
                                             "batch",  "dropout", "test-labels",
                                             "mean",   "stddev"};

absl::StatusOr<TrainableModel> ReadMnist(const Arguments& arguments) {
  // Those of MNIST's own training images.
  PARTITA_ASSIGN_OR_RETURN(
      const ImageClassifierOptions images,
      ReadImages(arguments, {.mean = {0.1307}, .stddev = {0.3081}}));
  PARTITA_ASSIGN_OR_RETURN(const double dropout,
                           arguments.GetBelow("dropout", 0.5, 1));
  return MnistModel(images, dropout);
}

constexpr absl::string_view kResNet18Flags[] = {
    "images",  "labels", "test-images", "test-labels", "batch",
    "classes", "mean",   "stddev",      "batch-norm"};

absl::StatusOr<TrainableModel> ReadResNet18(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      const ImageClassifierOptions images,
      ReadImages(arguments, {.mean = {0.5}, .stddev = {0.25}}));
  PARTITA_ASSIGN_OR_RETURN(const int64_t classes,
                           arguments.GetInt("classes", 10, 1, kMaxModelSize));
  PARTITA_ASSIGN_OR_RETURN(const int parts, ReadBatchNormParts(arguments));
  PARTITA_ASSIGN_OR_RETURN(TrainableModel model,
                           ResNet18Model(images, classes, parts));
  PARTITA_RETURN_IF_ERROR(AddBatchNormSettings(parts, "take --batch", model));
  return model;
}

constexpr absl::string_view kGptFlags[] = {
    "text",  "test-share", "layers",  "width",  "heads",      "context",
    "batch", "untied",     "dropout", "sample", "temperature"};

constexpr absl::string_view kLstmFlags[] = {
    "text", "test-share", "width", "context", "batch", "sample", "temperature"};

struct SizeFlag {
  const char* flag;
  int64_t* size;
};

absl::Status ReadSizes(const Arguments& arguments,
                       std::initializer_list<SizeFlag> sizes) {
  for (const auto& [flag, size] : sizes) {
    PARTITA_ASSIGN_OR_RETURN(*size,
                             arguments.GetInt(flag, *size, 1, kMaxModelSize));
  }
  return absl::OkStatus();
}

absl::StatusOr<TextModelOptions> ReadText(const Arguments& arguments) {
  TextModelOptions options = {.files = arguments.GetAll("text")};
  if (options.files.empty()) {
    return CalledWrongly(
        "train: found no --text; expected --text FILE, in UTF-8");
  }
  PARTITA_ASSIGN_OR_RETURN(
      options.test_share,
      arguments.GetBelow("test-share", options.test_share, 1));
  PARTITA_ASSIGN_OR_RETURN(options.writing.characters,
                           arguments.GetInt("sample", 0, 0, kMaxSample));
  PARTITA_ASSIGN_OR_RETURN(options.writing.temperature,
                           arguments.GetDouble("temperature", 1));
  PARTITA_ASSIGN_OR_RETURN(const int64_t seed, ReadSeed(arguments));
  options.writing.seed = static_cast<uint64_t>(seed);
  return options;
}

absl::StatusOr<TrainableModel> ReadGpt(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const TextModelOptions options, ReadText(arguments));
  GptTrainingOptions network;
  PARTITA_RETURN_IF_ERROR(ReadSizes(arguments, {{"layers", &network.layers},
                                                {"width", &network.width},
                                                {"heads", &network.heads},
                                                {"context", &network.context},
                                                {"batch", &network.batch}}));
  network.tied = !arguments.has("untied");
  PARTITA_ASSIGN_OR_RETURN(network.dropout,
                           arguments.GetBelow("dropout", network.dropout, 1));
  return GptModel(options, network);
}

absl::StatusOr<TrainableModel> ReadLstm(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const TextModelOptions options, ReadText(arguments));
  LstmTrainingOptions network;
  PARTITA_RETURN_IF_ERROR(ReadSizes(arguments, {{"width", &network.width},
                                                {"context", &network.context},
                                                {"batch", &network.batch}}));
  return LstmModel(options, network);
}

constexpr absl::string_view kOnnxFlags[] = {
    "input", "labels", "test-input", "test-labels",  "mean",       "stddev",
    "loss",  "dim",    "shape",      "label-column", "batch-norm", "bind"};

constexpr TrainableKind kOnnx = {"an ONNX model", kOnnxFlags, "--dim, --shape",
                                 [] { return UpdateRule(); },
                                 ReadTrainableOnnx};

constexpr TrainableKind kKinds[] = {
    {"builtin:mnist", kMnistFlags, "--batch",
     [] { return MnistTrainingOptions().update; }, ReadMnist},
    {"builtin:resnet18", kResNet18Flags, "--batch",
     [] { return ResNet18TrainingOptions().update; }, ReadResNet18},
    {"builtin:gpt", kGptFlags, "--layers, --width, --heads, --context, --batch",
     [] { return GptTrainingOptions().update; }, ReadGpt},
    {"builtin:lstm", kLstmFlags, "--width, --context, --batch",
     [] { return LstmTrainingOptions().update; }, ReadLstm},
    kOnnx,
};

// A name that is neither built in nor text is an ONNX file, as in other
// commands.
bool IsOfKind(const std::string& model, const TrainableKind& kind) {
  if (kind.read != ReadTrainableOnnx) return model == kind.name;
  return !absl::StartsWith(model, "builtin:") &&
         !absl::EndsWith(model, ".graph");
}

std::string ReadersOf(absl::string_view flag) {
  std::vector<std::string> readers;
  for (const TrainableKind& kind : kKinds) {
    if (absl::c_linear_search(kind.flags, flag)) readers.push_back(kind.name);
  }
  return absl::StrJoin(readers, ", ");
}

absl::Status CheckFlags(const TrainableKind& kind, const Arguments& arguments) {
  for (const TrainableKind& other : kKinds) {
    for (const absl::string_view flag : other.flags) {
      if (!arguments.has(flag) || absl::c_linear_search(kind.flags, flag)) {
        continue;
      }
      return CalledWrongly(absl::StrCat(
          "--", flag, ": found with ", kind.name,
          ", which does not read it; expected it with ", ReadersOf(flag),
          kind.read == ReadTrainableOnnx && flag == "batch"
              ? "; the model's own dimension is bound by --dim NAME=N where "
                "the file leaves it open"
              : ""));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> TrainableBuiltIns() {
  std::vector<std::string> names;
  for (const TrainableKind& kind : kKinds) {
    if (kind.read != ReadTrainableOnnx) names.push_back(kind.name);
  }
  return names;
}

const char* SizeFlagsOf(const Arguments& arguments) {
  for (const TrainableKind& kind : kKinds) {
    if (IsOfKind(arguments.positional()[0], kind)) return kind.size_flags;
  }
  return kOnnx.size_flags;
}

absl::StatusOr<const TrainableKind*> FindTrainable(const Arguments& arguments) {
  const std::string& model = arguments.positional()[0];
  std::vector<std::string> names;
  for (const TrainableKind& kind : kKinds) names.push_back(kind.name);
  PARTITA_RETURN_IF_ERROR(CheckPrefix(model, names));
  for (const TrainableKind& kind : kKinds) {
    if (!IsOfKind(model, kind)) continue;
    PARTITA_RETURN_IF_ERROR(CheckFlags(kind, arguments));
    return &kind;
  }
  return CalledWrongly(absl::StrCat(
      model, ": found no model that can be trained; expected one of: ",
      absl::StrJoin(names, ", "), NearestText(model, names)));
}

}  // namespace partita
