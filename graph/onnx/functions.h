// A model's own functions, and how a call binds one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_FUNCTIONS_H_
#define PARTITA_GRAPH_ONNX_FUNCTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnx/onnx_pb.h"

namespace partita {

// By domain, name and overload. As in the standard, a function takes precedence
// over an op with the same name.
class ModelFunctions {
 public:
  explicit ModelFunctions(const onnx::ModelProto& model);

  // InvalidArgument for a function that is defined twice: its calls are
  // ambiguous.
  absl::Status CheckDefinedOnce() const;

  // Null if the node calls none.
  const onnx::FunctionProto* Find(const onnx::NodeProto& node) const;

 private:
  absl::flat_hash_map<std::string, const onnx::FunctionProto*> functions_;
  const onnx::FunctionProto* twice_ = nullptr;
};

// "pkg.layers.Mlp"
std::string FunctionName(const onnx::FunctionProto& function);

// The standard's opset in the body: the function's own, or else `otherwise`.
int64_t OpsetOf(const onnx::FunctionProto& function, int64_t otherwise);

// The values of a function's attributes in one call, by name.
using BoundAttributes = std::map<std::string, onnx::AttributeProto>;

// Those of the call, and defaults. InvalidArgument for an attribute that the
// function does not declare.
absl::StatusOr<BoundAttributes> BindAttributes(
    const onnx::FunctionProto& function, const onnx::NodeProto& call);

// The node with references to bound attributes replaced by their values, also
// in graphs inside its attributes. References to unbound ones are dropped.
onnx::NodeProto BoundNode(const onnx::NodeProto& node,
                          const BoundAttributes& bound);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_FUNCTIONS_H_
