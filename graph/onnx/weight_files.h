// The files with the tensors of one model: its own, or files beside it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_WEIGHT_FILES_H_
#define PARTITA_GRAPH_ONNX_WEIGHT_FILES_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "graph/literal_pool.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace partita {

// Reads tensors of a ModelFile. External data must be inside the folder of the
// model, or of the file that the model is a link to; each file is mapped once.
class WeightFiles {
 public:
  explicit WeightFiles(std::shared_ptr<const MappedFile> model);

  // Adds the tensor to the pool. Its bytes stay in their file, except bools,
  // which become 0 or 1, and elements that the proto lists one by one.
  absl::StatusOr<LiteralId> Add(const onnx::TensorProto& proto,
                                LiteralPool& literals);
  // The tensor's elements, copied. Refuses external data.
  absl::StatusOr<HostTensor> Read(const onnx::TensorProto& proto) const;

 private:
  struct Place {
    std::shared_ptr<const MappedFile> file;
    int64_t offset = 0;
  };
  absl::StatusOr<Place> RawPlace(const onnx::TensorProto& proto,
                                 const TensorType& type) const;
  absl::StatusOr<Place> ExternalPlace(const onnx::TensorProto& proto,
                                      const TensorType& type);
  absl::StatusOr<std::shared_ptr<const MappedFile>> FileAt(
      const onnx::TensorProto& proto, const std::string& location);

  std::shared_ptr<const MappedFile> model_;
  std::string folder_;
  // Of the file that the model is a link to; empty if there is none.
  std::string linked_folder_;
  // By paths without links.
  absl::flat_hash_map<std::string, std::shared_ptr<const MappedFile>> external_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_WEIGHT_FILES_H_
