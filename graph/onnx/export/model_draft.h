// A model under construction: its nodes, its names, and the memory of its
// initializers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_MODEL_DRAFT_H_
#define PARTITA_GRAPH_ONNX_EXPORT_MODEL_DRAFT_H_

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/host_tensor.h"
#include "onnx/onnx_pb.h"

namespace partita {

struct Initializer {
  std::string name;
  TensorType type;                    // row-major
  absl::Span<const std::byte> bytes;  // borrowed, or in `owned`
};

// ONNX has separate names for values and nodes. A name that is taken gets a
// suffix.
class ModelDraft {
 public:
  // Reserves `name` for a value; false if it is taken.
  bool TakeName(const std::string& name);
  std::string NewName(absl::string_view wanted);

  void AddInput(const std::string& name, const TensorType& type);
  void AddOutput(const std::string& name, const TensorType& type);
  // A node without attributes. Its name is `wanted`, perhaps with a suffix.
  onnx::NodeProto& AddNode(absl::string_view wanted, absl::string_view op_type,
                           absl::Span<const std::string> inputs,
                           absl::Span<const std::string> outputs);
  // The bytes must outlive the draft.
  void AddInitializer(std::string name, const TensorType& type,
                      absl::Span<const std::byte> bytes);
  void AddInitializer(std::string name, HostTensor tensor);

  onnx::ModelProto& proto() { return proto_; }
  const std::vector<Initializer>& initializers() const { return initializers_; }
  std::deque<HostTensor> TakeOwned() && { return std::move(owned_); }

 private:
  onnx::ModelProto proto_;
  std::vector<Initializer> initializers_;
  std::deque<HostTensor> owned_;
  absl::flat_hash_set<std::string> values_;
  absl::flat_hash_set<std::string> nodes_;
};

// dtype and extents.
void SetType(const TensorType& type, onnx::TensorProto& proto);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_MODEL_DRAFT_H_
