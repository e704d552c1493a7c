// ONNX models as modules.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_IMPORT_H_
#define PARTITA_GRAPH_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace partita {

struct ImportOptions {
  // Extents of symbolic dimensions, by the name that the model gives them.
  std::map<std::string, int64_t> dims;
  // Whole shapes of inputs, by input name; they win over `dims`.
  std::map<std::string, std::vector<int64_t>> shapes;
  // Values of inputs that decide shapes or branches, by input name. Such an
  // input becomes a constant and is no input of the function any more.
  std::map<std::string, std::vector<double>> values;
};

// Reads a model of opset 7 or newer; the function is named "main". Weights stay
// in the mapped model or in external data files, which must lie inside the
// model's folder. Scopes come from node names, locations name the ONNX node.
// Errors: NotFound or InvalidArgument for a file that is no model or is cut
// short; InvalidArgument naming the dimensions that --dim or --shape must bind;
// Unimplemented listing every node whose op or attribute is not supported.
absl::StatusOr<Module> ImportOnnx(const std::string& path,
                                  const ImportOptions& options);

// The same from bytes in memory, as a fuzzer has them. External data is
// refused.
absl::StatusOr<Module> ImportOnnxBytes(absl::string_view bytes,
                                       absl::string_view source,
                                       const ImportOptions& options);

// The names of the inputs that a caller gives, in order: initializers are left
// out.
absl::StatusOr<std::vector<std::string>> OnnxInputNames(
    const std::string& path);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_IMPORT_H_
