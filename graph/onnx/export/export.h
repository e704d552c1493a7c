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

// Every runtime since 2022 reads it.
inline constexpr int kExportedOpset = 17;
inline constexpr int kExportedIrVersion = 8;

struct ExportOptions {
  // Present values of variables; others have their initial ones.
  VariableValues variables;
  // The file for the weights if the model would be larger than `largest_model`:
  // protobuf reads no larger message.
  std::string weight_file;
  int64_t largest_model = INT_MAX;  // bytes
};

// Bytes of a file: `head`, then those of a weight, which are not copied.
struct FileChunk {
  std::string head;
  absl::Span<const std::byte> weight;
};

// The chunks of each file, in order. Refers to the module's literals and the
// variables' values.
struct ExportedModel {
  std::vector<FileChunk> model;
  std::vector<FileChunk> weights;  // empty: the model has them
  std::deque<HostTensor> owned;    // constants that the chunks refer to
};

// A function with static shapes, before any pass, as a ModelProto of opset 17.
// Variables and constants become initializers. Inputs, outputs, and every value
// and node that has a name keep it. Ops that are newer than the opset are
// expanded. Float attributes are rounded to f32. Nodes that no output needs are
// left out. The same module makes the same bytes.
//
// Errors: NotFound if there is no such function; InvalidArgument for one that
// updates variables, for an output with the name of an input, and for a value
// of a variable with another type; Unimplemented with every node that the opset
// cannot express, and with constants whose bytes are not available.
absl::StatusOr<ExportedModel> ExportOnnx(const Module& module,
                                         absl::string_view function,
                                         const ExportOptions& options = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_EXPORT_EXPORT_H_
