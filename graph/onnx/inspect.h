// What an ONNX model holds and asks for, without translating it.
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
    std::string type;  // "f32[batch, 3, 224, 224]", or what it is instead
  };
  // An op of one domain, in the graph and in all bodies.
  struct Op {
    std::string name;    // "Conv", "com.example.Foo"
    int64_t count = 0;   // in all
    int64_t inside = 0;  // of these, in functions and in bodies of nodes
  };
  struct Unsupported {
    std::string op;
    int64_t count = 0;
    std::string first;    // where it is met first: "node n in the function f"
    std::string why;      // "came with opset 23", or empty
    std::string instead;  // what would replace it; empty if nothing is known
  };

  std::string producer;  // "pytorch 2.5"
  int64_t ir_version = 0;
  std::vector<std::string> opsets;  // "ai.onnx 17", by domain
  std::string opset_fault;          // why they are not read, or empty
  std::vector<Port> inputs;         // those that are no initializers
  std::vector<Port> outputs;
  std::vector<std::string> open_dims;  // as --dim names them
  std::vector<Op> ops;                 // the most frequent first
  int64_t nodes = 0;                   // in the graph
  int64_t nodes_inside = 0;            // in functions and bodies, each once
  int64_t functions = 0;
  int64_t parameters = 0;                // elements of initializers
  int64_t parameter_tensors = 0;         // how many initializers
  std::map<std::string, int64_t> bytes;  // of initializers, by element type
  // Of external data, by file: bytes that initializers have there.
  std::map<std::string, int64_t> external;
  std::vector<Unsupported> unsupported;
};

// Any file that protobuf reads as a model, of any opset. Bytes of weights are
// not read. Errors: NotFound, or InvalidArgument for a file that is no model;
// they name the file.
absl::StatusOr<ModelSummary> InspectOnnx(const std::string& path);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_INSPECT_H_
