// The nodes of a model's graph, its functions and its branches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_BODY_IMPORT_H_
#define PARTITA_GRAPH_ONNX_BODY_IMPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "graph/onnx/functions.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/scope.h"
#include "graph/onnx/weights.h"
#include "onnx/onnx_pb.h"

namespace partita {

// Translates nodes in order and collects all errors. A call of one of the
// model's functions becomes the function's nodes, in a scope named after the
// call. An If with a known condition becomes the nodes of its branch.
class BodyImporter {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  struct Parts {
    Graph& graph;
    KnownValues& known;
    WeightFiles& files;
    Weights& weights;
    // Initializers with several roles become several variables.
    bool trains = false;
  };
  BodyImporter(const onnx::ModelProto& model, const Parts& parts);

  // Unimplemented with all nodes whose op is not supported: of the nodes and of
  // the functions that they call, but not of branches: most are never
  // translated.
  absl::Status CheckOps(const Nodes& nodes, const Scope& scope) const;

  // The first error, with the messages of all; or those of CheckOps of a
  // branch.
  absl::Status AddNodes(const Nodes& nodes, Scope& scope);

 private:
  void Gather(const Nodes& nodes, Scope& scope);
  absl::Status AddNode(const onnx::NodeProto& proto, Scope& scope);
  absl::Status Convert(NodeImport& node);
  absl::Status AddCall(const onnx::FunctionProto& function, NodeImport& call,
                       Scope& scope);
  absl::Status GatherCall(const onnx::FunctionProto& function, NodeImport& call,
                          Scope& inner);
  absl::Status AddIf(NodeImport& node, Scope& scope);
  absl::Status AddBranch(const onnx::GraphProto& branch, NodeImport& node,
                         Scope& scope);
  absl::Status Enter(const NodeImport& node);
  absl::Status SetFrom(const Scope& inner, const std::string& name, int output,
                       NodeImport& node, Scope& scope);

  ModelFunctions functions_;
  Parts parts_;
  std::vector<const onnx::FunctionProto*> calls_;  // being translated
  int depth_ = 0;
  int64_t max_expanded_;
  int64_t expanded_ = 0;  // nodes of functions so far
  std::vector<std::string> faults_;
  absl::Status first_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_BODY_IMPORT_H_
