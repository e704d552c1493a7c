// The functions that a model brings along, and how a call binds one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_FUNCTIONS_H_
#define PARTITA_GRAPH_ONNX_FUNCTIONS_H_

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"

namespace partita {

// By domain, name and overload. A function wins over an op of the standard that
// has the same name, as the standard has it.
class ModelFunctions {
 public:
  explicit ModelFunctions(const onnx::ModelProto& model);

  // The first that is there twice, so that nobody knows which is called; null
  // if there is none.
  const onnx::FunctionProto* twice() const { return twice_; }

  // Null if the node calls none.
  const onnx::FunctionProto* Find(const onnx::NodeProto& node) const;

 private:
  absl::flat_hash_map<std::string, const onnx::FunctionProto*> functions_;
  const onnx::FunctionProto* twice_ = nullptr;
};

// "pkg.layers.Mlp"
std::string FunctionName(const onnx::FunctionProto& function);

// The standard's opset in the body: the function's own, or else `otherwise`.
int OpsetOf(const onnx::FunctionProto& function, int otherwise);

// What the attributes of a function mean in one call, by name.
using BoundAttributes = std::map<std::string, onnx::AttributeProto>;

// Those of the call, and defaults. Errors: one that the function does not
// declare.
absl::StatusOr<BoundAttributes> BindAttributes(
    const onnx::FunctionProto& function, const onnx::NodeProto& call);

// The node with what its attributes, and those of the graphs inside them, refer
// to put in their place; one that refers to nothing bound is dropped.
onnx::NodeProto BoundNode(const onnx::NodeProto& node,
                          const BoundAttributes& bound);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_FUNCTIONS_H_
