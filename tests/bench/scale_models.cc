// Blocks that repeat until the graph is large enough.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scale_models.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int64_t kWidth = 16;
constexpr int kBranches = 5;

absl::Status CheckCounts(int nodes, int64_t batch) {
  if (nodes > 0 && batch > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model: found ", nodes, " nodes and a batch of ", batch,
                   "; expected positive counts"));
}

// Weights of different blocks differ, or passes would merge them.
class Blocks {
 public:
  explicit Blocks(GraphBuilder& b) : b_(b) {}

  Tensor Add(Tensor x) {
    const GraphBuilder::Scope scope(b_, absl::StrCat("block", ++blocks_));
    Tensor sum = Branch(x);
    for (int i = 1; i < kBranches; ++i) sum = sum + Branch(x);
    return Tanh(Op(kSoftmax, {sum + x}, {{"axis", 1}}));
  }

 private:
  Tensor Branch(Tensor x) {
    return Sigmoid(MatMul(x, Weight({kWidth, kWidth})) + Weight({kWidth}));
  }
  Tensor Weight(Shape dims) {
    return b_.Constant(
        RandomTensor({DType::kF32, std::move(dims), {}}, ++weights_, -1, 1));
  }

  GraphBuilder& b_;
  int blocks_ = 0;
  uint64_t weights_ = 0;
};

absl::StatusOr<Module> SmallGpt(int64_t layers, int64_t batch) {
  return GptTraining({.batch = batch,
                      .layers = layers,
                      .width = kWidth,
                      .heads = 2,
                      .context = 8,
                      .vocabulary = 32});
}

}  // namespace

int NodesOf(const Module& module) {
  int nodes = 0;
  for (const auto& function : module.functions()) {
    nodes += function->num_nodes();
  }
  return nodes;
}

absl::StatusOr<Module> LayeredModel(int nodes, int64_t batch) {
  PARTITA_RETURN_IF_ERROR(CheckCounts(nodes, batch));
  GraphBuilder b("layers");
  Blocks blocks(b);
  Tensor x = b.Input("x", DType::kF32, {batch, kWidth});
  while (b.status().ok() && b.graph().num_nodes() < nodes) x = blocks.Add(x);
  b.Output("y", x);
  return b.Build();
}

absl::StatusOr<Module> TrainingModel(int nodes, int64_t batch) {
  PARTITA_RETURN_IF_ERROR(CheckCounts(nodes, batch));
  PARTITA_ASSIGN_OR_RETURN(const Module one, SmallGpt(1, batch));
  PARTITA_ASSIGN_OR_RETURN(const Module two, SmallGpt(2, batch));
  const int of_layer = NodesOf(two) - NodesOf(one);
  const int missing = std::max(0, nodes - NodesOf(one));
  return SmallGpt(1 + (missing + of_layer - 1) / of_layer, batch);
}

}  // namespace partita
