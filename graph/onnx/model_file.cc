// Parses the skeleton of a mapped model.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/model_file.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "graph/onnx/model_skeleton.h"
#include "graph/onnx/opsets.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int kMaxNesting = 100;

absl::Status Parse(const std::string& skeleton, onnx::ModelProto& model) {
  // ModelSkeleton stays within an int.
  google::protobuf::io::ArrayInputStream stream(
      skeleton.data(), static_cast<int>(skeleton.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxNesting);
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(
        "found bytes that are not a whole ONNX model; expected a serialised "
        "ModelProto; copy or export it again, as the file may be cut short");
  }
  if (!model.has_graph()) {
    return absl::InvalidArgumentError(
        "found no graph; expected a serialised ModelProto with one; copy or "
        "export it again, as the file may be cut short");
  }
  return absl::OkStatus();
}

std::string ImportsText(const onnx::ModelProto& model) {
  if (model.opset_import().empty()) return "no opset_import";
  return absl::StrCat("an opset_import of ",
                      absl::StrJoin(model.opset_import(), ", ",
                                    [](std::string* out, const auto& opset) {
                                      absl::StrAppend(out, opset.domain(), " ",
                                                      opset.version());
                                    }),
                      " only");
}

// Without an opset import the version of a node's op is unknown.
absl::Status CheckNoStandardNode(const onnx::ModelProto& model) {
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (!IsStandardDomain(node.domain())) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", ImportsText(model), "; expected one of domain ai.onnx, ",
        kOldestOpset, "..", kNewestOpset, ", to which the op ", node.op_type(),
        " belongs; add it, or export the model again"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> StandardOpset(const onnx::ModelProto& model) {
  std::optional<int64_t> version;
  for (const auto& opset : model.opset_import()) {
    if (IsStandardDomain(opset.domain())) version = opset.version();
  }
  if (!version.has_value()) {
    PARTITA_RETURN_IF_ERROR(CheckNoStandardNode(model));
    return 0;
  }
  PARTITA_RETURN_IF_ERROR(CheckOpset(*version));
  return static_cast<int>(*version);
}

absl::StatusOr<std::unique_ptr<ModelFile>> ParseModelFile(
    std::shared_ptr<const MappedFile> file) {
  auto model = std::make_unique<ModelFile>();
  PARTITA_ASSIGN_OR_RETURN(
      const std::string skeleton,
      ModelSkeleton(
          absl::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                            file->bytes().size())));
  PARTITA_RETURN_IF_ERROR(Parse(skeleton, model->proto));
  model->file = std::move(file);
  return model;
}

absl::StatusOr<std::unique_ptr<ModelFile>> ReadModelFile(
    std::shared_ptr<const MappedFile> file) {
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<ModelFile> model,
                           ParseModelFile(std::move(file)));
  PARTITA_ASSIGN_OR_RETURN(model->opset, StandardOpset(model->proto));
  return model;
}

}  // namespace partita
