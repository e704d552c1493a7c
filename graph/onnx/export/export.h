// Modules as ONNX models.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_EXPORT_EXPORT_H_
#define PARTITA_GRAPH_ONNX_EXPORT_EXPORT_H_

#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

// What is written: every runtime since 2022 reads it.
inline constexpr int kExportedOpset = 17;
inline constexpr int kExportedIrVersion = 8;

struct ExportOptions {
  // Present values of variables; others have their initial ones.
  VariableValues variables;
  // The file that takes the weights where the model's own would be larger than
  // that: protobuf reads no larger message.
  std::string weight_file;
  int64_t largest_model = INT_MAX;  // bytes
};

// Bytes of a file: `head`, then those of a weight, which lie where they lay.
struct FilePiece {
  std::string head;
  absl::Span<const std::byte> weight;
};

// The pieces of each file, in order. Refers to the module's literals and the
// variables' values.
struct ExportedModel {
  std::vector<FilePiece> model;
  std::vector<FilePiece> weights;  // empty: the model holds them
  std::deque<HostTensor> owned;    // constants that the pieces refer to
};

// A function of static shapes, before any pass, as a ModelProto of opset 17:
// variables and constants become initializers, inputs and outputs keep their
// names, and so does every value and node that has one. An op that came with a
// later opset is written out; a float attribute is rounded to f32. Nodes that
// no output needs are left out. The same module makes the same bytes.
//
// Errors: NotFound if there is no such function; InvalidArgument for one that
// updates variables, for an output called as an input, and for a value of a
// variable that is not of its type; Unimplemented listing every node that the
// opset cannot express, and constants whose bytes are not at hand.
absl::StatusOr<ExportedModel> ExportOnnx(const Module& module,
                                         absl::string_view function,
                                         const ExportOptions& options = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_EXPORT_H_
