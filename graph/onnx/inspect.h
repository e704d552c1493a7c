// Lists the contents and requirements of an ONNX model, without translating it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_INSPECT_H_
#define PARTITA_GRAPH_ONNX_INSPECT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace partita {

struct ModelSummary {
  struct Port {
    std::string name;
    std::string type;  // "f32[batch, 3, 224, 224]", or a type that is no tensor
  };
  // An op of one domain, in the graph and in all bodies.
  struct Op {
    std::string name;    // "Conv", "com.example.Foo"
    int64_t count = 0;   // in total
    int64_t inside = 0;  // of these, in functions and in bodies of nodes
  };
  struct Unsupported {
    std::string op;
    int64_t count = 0;
    std::string first;    // its first node: "node n in the function f"
    std::string why;      // "came with opset 23", or empty
    std::string instead;  // a replacement; empty if none is known
  };

  std::string producer;  // "pytorch 2.5"
  int64_t ir_version = 0;
  std::vector<std::string> opsets;  // "ai.onnx 17", by domain
  // What the importer refuses apart from ops, in its words: an opset, a
  // function that is defined twice or calls itself, sparse initializers; also
  // in functions that nothing calls.
  std::vector<std::string> faults;
  std::vector<Port> inputs;  // those that are not initializers
  std::vector<Port> outputs;
  std::vector<std::string> open_dims;  // in terms of --dim
  std::vector<Op> ops;                 // most frequent first
  int64_t nodes = 0;                   // in the graph
  int64_t nodes_inside = 0;            // in functions and bodies, each once
  int64_t functions = 0;
  int64_t parameters = 0;                // elements of initializers
  int64_t parameter_tensors = 0;         // number of initializers
  std::map<std::string, int64_t> bytes;  // of initializers, by element type
  // For external data, by file: bytes of initializers.
  std::map<std::string, int64_t> external;
  std::vector<Unsupported> unsupported;
};

// Any file that protobuf reads as a model, of any opset. Does not read the
// bytes of weights. Errors, which name the file: NotFound, or InvalidArgument
// for a file that is not a model.
absl::StatusOr<ModelSummary> InspectOnnx(const std::string& path);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_INSPECT_H_
