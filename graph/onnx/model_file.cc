// Parses the skeleton of a mapped model.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/model_file.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "graph/onnx/model_skeleton.h"
#include "graph/onnx/opsets.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int kMaxNesting = 100;

absl::Status Parse(const std::string& skeleton, onnx::ModelProto& model) {
  // ModelSkeleton keeps within an int.
  google::protobuf::io::ArrayInputStream stream(
      skeleton.data(), static_cast<int>(skeleton.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxNesting);
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        "found bytes that are no ONNX model, or one cut short; expected a "
        "serialised ModelProto");
  }
  if (!model.has_graph()) {
    return absl::InvalidArgumentError(
        "found no graph; expected a serialised ModelProto with one");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> OpsetOf(const onnx::ModelProto& model) {
  std::optional<int64_t> version;
  for (const auto& opset : model.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") {
      version = opset.version();
    }
  }
  if (!version.has_value() || *version < kOldestOpset ||
      *version > kNewestOpset) {
    return absl::UnimplementedError(absl::StrCat(
        "found opset ", version.has_value() ? absl::StrCat(*version) : "none",
        "; expected ", kOldestOpset, "..", kNewestOpset,
        "; convert the model"));
  }
  return static_cast<int>(*version);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelFile>> ReadModelFile(
    std::shared_ptr<const MappedFile> file) {
  auto model = std::make_unique<ModelFile>();
  PARTITA_ASSIGN_OR_RETURN(
      const std::string skeleton,
      ModelSkeleton(
          absl::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                            file->bytes().size())));
  PARTITA_RETURN_IF_ERROR(Parse(skeleton, model->proto));
  PARTITA_ASSIGN_OR_RETURN(model->opset, OpsetOf(model->proto));
  model->file = std::move(file);
  return model;
}

}  // namespace partita
