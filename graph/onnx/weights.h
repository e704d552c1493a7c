// The initializers of a model: constants, or variables to train.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_WEIGHTS_H_
#define PARTITA_GRAPH_ONNX_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "graph/graph.h"
#include "graph/onnx/scope.h"
#include "graph/onnx/weight_files.h"
#include "onnx/onnx_pb.h"

namespace partita {

// Unimplemented for a graph or branch with sparse initializers.
absl::Status CheckDense(const onnx::GraphProto& graph);

// Adds initializers to one graph. For training, one initializer is one
// variable, through any number of Identity nodes. Exporters merge initializers
// with equal values, such as an untrained batch norm's scale and running
// variance, so a running statistic is always a variable of its own.
class Weights {
 public:
  Weights(const onnx::GraphProto& model, Module& module, WeightFiles& files);

  // Those of the model's graph or of a branch.
  absl::Status AddInitializers(const onnx::GraphProto& graph, Scope& scope);

  // True if the node uses an initializer in another role than other nodes.
  bool IsOtherRole(const onnx::NodeProto& node, const Scope& scope) const;
  absl::Status DefineOtherRole(const onnx::NodeProto& node, Scope& scope);

  // Those of floats with one dimension or more become variables. Call it after
  // all nodes, since converters may need their values.
  void MakeVariables();

 private:
  struct Weight {
    std::string name;
    ValueId constant;
  };

  void FindReaders(const onnx::GraphProto& model);
  absl::Status Define(const std::string& name, LiteralId literal, Scope& scope);
  void MakeVariable(const Weight& weight);
  bool IsStatistic(ValueId value) const;

  Module& module_;
  Graph& graph_;
  WeightFiles& files_;
  std::vector<Weight> weights_;
  absl::flat_hash_set<ValueId> constants_;         // of weights_
  absl::flat_hash_set<std::string> statistics_;    // read as such
  absl::flat_hash_set<std::string> others_;        // read as anything else
  absl::flat_hash_map<ValueId, ValueId> trained_;  // in addition to a statistic
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_WEIGHTS_H_
