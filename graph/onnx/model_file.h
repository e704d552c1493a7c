// An ONNX file, mapped and parsed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_MODEL_FILE_H_
#define PARTITA_GRAPH_ONNX_MODEL_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "graph/literal_pool.h"
#include "onnx/onnx_pb.h"

namespace partita {

// The raw_data of initializers and of tensor attributes of nodes are ranges of
// `file` (DecodeRawRange): parsing reads no weight.
struct ModelFile {
  std::shared_ptr<const MappedFile> file;
  onnx::ModelProto proto;
  int opset = 0;  // 0 if unknown
};

// Of any opset. InvalidArgument for bytes that are not a model; messages do not
// repeat the path.
absl::StatusOr<std::unique_ptr<ModelFile>> ParseModelFile(
    std::shared_ptr<const MappedFile> file);

// The same, with a supported opset. Further errors: InvalidArgument for nodes
// of the standard without an opset; Unimplemented for an opset that is too old
// or too new.
absl::StatusOr<std::unique_ptr<ModelFile>> ReadModelFile(
    std::shared_ptr<const MappedFile> file);

// The standard's opset in the model; 0 if no node of its graph is of the
// standard. The errors are those of ReadModelFile.
absl::StatusOr<int> StandardOpset(const onnx::ModelProto& model);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_MODEL_FILE_H_
