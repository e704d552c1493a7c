// Reads the flags of each model.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/trainable_models.h"

#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/inference_training.h"
#include "graph/status_macros.h"
#include "partita/train/batch_inputs.h"
#include "partita/train/image_classifier.h"
#include "partita/train/imported_model.h"
#include "partita/train/text_model.h"
#include "tools/partita/model_input.h"
#include "tools/partita/train_request.h"

namespace partita {
namespace {

constexpr int64_t kMaxSize = 1 << 16;  // of a batch, or within a model
constexpr int64_t kMaxSample = 1 << 20;
constexpr char kSynchronised[] = "synchronised";
constexpr char kPerReplica[] = "per-replica";

absl::Status CheckGiven(const Arguments& arguments,
                        std::initializer_list<const char*> flags) {
  for (const char* flag : flags) {
    if (arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat("train: found no --", flag,
                                      "; expected --", flag,
                                      " FILE, an IDX or .npy file"));
  }
  return absl::OkStatus();
}

// One for all, or one for each channel: "0.49,0.48,0.45".
absl::Status ReadNumbers(const Arguments& arguments, const char* flag,
                         std::vector<double>& numbers) {
  if (!arguments.has(flag)) return absl::OkStatus();
  numbers.clear();
  const std::string text = arguments.Get(flag, "");
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    double& number = numbers.emplace_back();
    if (absl::SimpleAtod(part, &number) &&
        std::isfinite(static_cast<float>(number))) {
      continue;
    }
    return CalledWrongly(absl::StrCat("--", flag, ": found ", text,
                                      "; expected an f32 number, or one for "
                                      "each channel, as in 0.49,0.48,0.45"));
  }
  return absl::OkStatus();
}

absl::Status ReadNormalization(const Arguments& arguments,
                               std::vector<double>& mean,
                               std::vector<double>& stddev) {
  PARTITA_RETURN_IF_ERROR(ReadNumbers(arguments, "mean", mean));
  PARTITA_RETURN_IF_ERROR(ReadNumbers(arguments, "stddev", stddev));
  const bool positive = absl::c_all_of(
      stddev, [](double number) { return static_cast<float>(number) > 0; });
  if (positive) return absl::OkStatus();
  return CalledWrongly(absl::StrCat("--stddev: found ",
                                    arguments.Get("stddev", ""),
                                    "; expected f32 numbers above 0"));
}

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
      options.batch, arguments.GetInt("batch", options.batch, 1, kMaxSize));
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

// How many shards of the batch have statistics of their own. Without
// --batch-norm: with --replicas as in PyTorch's DistributedDataParallel;
// otherwise one, so that the number that the planner finds changes no
// arithmetic.
absl::StatusOr<int> ReadBatchNormParts(const Arguments& arguments) {
  const bool has_replicas = arguments.has("replicas");
  const std::string kind =
      arguments.Get("batch-norm", has_replicas ? kPerReplica : kSynchronised);
  if (kind == kSynchronised) return 1;
  if (!has_replicas) {
    return CalledWrongly(
        "--batch-norm: found per-replica without --replicas; expected both");
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t parts,
                           arguments.GetInt("replicas", 1, 1, kMaxSize));
  PARTITA_ASSIGN_OR_RETURN(const int64_t micro_batches,
                           arguments.GetInt("micro-batches", 1, 1, kMaxSize));
  if (parts > 1 && micro_batches > 1) {
    return CalledWrongly(
        absl::StrCat("--micro-batches: found ", micro_batches,
                     " with batch norms per replica, the default with "
                     "--replicas; expected --batch-norm synchronised, as the "
                     "examples of a replica are not contiguous in the batch"));
  }
  return static_cast<int>(parts);
}

// `change` says how to change the batch.
absl::Status AddBatchNormSettings(int parts, absl::string_view change,
                                  TrainableModel& model) {
  if (model.batch % parts != 0) {
    return CalledWrongly(absl::StrCat(
        "--batch-norm per-replica: found a batch of ", model.batch,
        " and --replicas ", parts,
        "; expected a batch of equal shards, one for each; ", change, " ",
        (model.batch / parts + 1) * parts,
        ", or take other --replicas, or --batch-norm synchronised"));
  }
  model.batch_norm_parts = parts;
  // Synchronised ones do not depend on the number of replicas.
  model.settings.push_back(
      {.name = "batch-norm",
       .value = parts == 1 ? kSynchronised
                           : absl::StrCat(kPerReplica, " of ", parts),
       .fix = "give the --batch-norm, and the --replicas of per-replica, that "
              "the training was begun with"});
  return absl::OkStatus();
}

constexpr absl::string_view kResNet18Flags[] = {
    "images",  "labels", "test-images", "test-labels", "batch",
    "classes", "mean",   "stddev",      "batch-norm"};

absl::StatusOr<TrainableModel> ReadResNet18(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      const ImageClassifierOptions images,
      ReadImages(arguments, {.mean = {0.5}, .stddev = {0.25}}));
  PARTITA_ASSIGN_OR_RETURN(const int64_t classes,
                           arguments.GetInt("classes", 10, 1, kMaxSize));
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
    PARTITA_ASSIGN_OR_RETURN(*size, arguments.GetInt(flag, *size, 1, kMaxSize));
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
      "--label-column: found it with --labels ", arguments.Get("labels", ""),
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
        "--", flag, ": found it with inputs that are neither f32 nor f64, ",
        "which are taken as they are; expected one that is; leave it out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainableModel> ReadOnnxModel(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(
      Module module, ReadTrainedOnnx(arguments.positional()[0], arguments));
  ImportedModelOptions options;
  options.loss = arguments.Get("loss", options.loss);
  if (arguments.has("label-smoothing") && !HasClasses(options.loss)) {
    return CalledWrongly(absl::StrCat(
        "--label-smoothing: found it with --loss ", options.loss,
        ", which has no classes; expected --loss cross-entropy or nll"));
  }
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
    PARTITA_ASSIGN_OR_RETURN(options.batch_norm_parts,
                             ReadBatchNormParts(arguments));
  }
  PARTITA_ASSIGN_OR_RETURN(TrainableModel model,
                           ImportedModel(std::move(module), options));
  PARTITA_RETURN_IF_ERROR(AddBatchNormSettings(options.batch_norm_parts,
                                               "bind it by --dim to", model));
  model.rebatched = [arguments](int64_t batch) {
    return ReadRebatchedOnnx(arguments.positional()[0], arguments, batch);
  };
  return model;
}

constexpr TrainableKind kOnnx = {"an ONNX model", kOnnxFlags, "--dim, --shape",
                                 [] { return UpdateRule(); }, ReadOnnxModel};

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
  if (kind.read != ReadOnnxModel) return model == kind.name;
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
          "--", flag, ": found it with ", kind.name,
          ", which does not read it; expected it with ", ReadersOf(flag),
          kind.read == ReadOnnxModel && flag == "batch"
              ? "; the model's own dimension is bound by --dim NAME=N where "
                "the file leaves it open"
              : ""));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> BatchNormKinds() {
  return {kSynchronised, kPerReplica};
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
  for (const TrainableKind& kind : kKinds) {
    names.push_back(kind.name);
    if (!IsOfKind(model, kind)) continue;
    PARTITA_RETURN_IF_ERROR(CheckFlags(kind, arguments));
    return &kind;
  }
  return CalledWrongly(
      absl::StrCat(model, ": found no model that can be trained; expected ",
                   absl::StrJoin(names, ", ")));
}

}  // namespace partita
