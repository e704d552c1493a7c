// A graph that grows by random steps.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_RANDOM_GRAPH_GRAPH_SKETCH_H_
#define PARTITA_TESTS_RANDOM_GRAPH_GRAPH_SKETCH_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "tests/random_graph/random_graph.h"

namespace partita {

using Ints = std::vector<int64_t>;

// The graph, the values that a next step may read, and the random choices. A
// step without a suitable operand does nothing.
class GraphSketch {
 public:
  GraphSketch(Graph* graph, uint64_t seed, const RandomGraphOptions& options)
      : graph_(graph), seed_(seed), options_(options) {}

  const RandomGraphOptions& options() const { return options_; }
  Graph& graph() { return *graph_; }
  const TensorType& type(ValueId id) const { return graph_->type(id); }
  const Shape& dims(ValueId id) const { return graph_->type(id).dims; }
  const std::vector<ValueId>& values() const { return values_; }

  // --- numbers ---
  int64_t Below(int64_t limit);  // 0 .. limit - 1
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<int64_t>(choices.size()))];
  }
  int64_t Extent() { return Between(1, options_.max_extent); }

  // --- values ---
  void Offer(ValueId value) { values_.push_back(value); }
  // A value that `fits`, later ones more likely; invalid if there is none.
  ValueId Pick(absl::FunctionRef<bool(const TensorType&)> fits);
  ValueId PickFloat(int min_rank = 0, int max_rank = kMaxRank);
  ValueId Constant(DType dtype, Shape dims, double low, double high);
  ValueId IndexConstant(Ints values);

  // The first result, which later steps may read; invalid if an operand is, if
  // the op refuses or if a result would be too large.
  ValueId Add(const OpDef& op, absl::Span<const ValueId> operands,
              Attributes attributes = {});
  // Like Add, but later steps do not see the results.
  ValueId AddHidden(const OpDef& op, absl::Span<const ValueId> operands,
                    Attributes attributes = {});

 private:
  Graph* graph_;
  const uint64_t seed_;
  const RandomGraphOptions options_;
  uint64_t counter_ = 0;
  std::vector<ValueId> values_;
};

using Step = void (*)(GraphSketch& sketch);

// One for each kind.
void ElementwiseStep(GraphSketch& sketch);
void BroadcastStep(GraphSketch& sketch);
void NoEffectStep(GraphSketch& sketch);
void ActivationStep(GraphSketch& sketch);
void ConstantStep(GraphSketch& sketch);
void ShapeStep(GraphSketch& sketch);
void ResidualStep(GraphSketch& sketch);
void DiscreteStep(GraphSketch& sketch);
void MatMulStep(GraphSketch& sketch);
void ConvStep(GraphSketch& sketch);
void PoolStep(GraphSketch& sketch);
void BatchNormStep(GraphSketch& sketch);
void ReduceStep(GraphSketch& sketch);
void SoftmaxStep(GraphSketch& sketch);
void ReshapeStep(GraphSketch& sketch);
void TransposeStep(GraphSketch& sketch);
void SliceStep(GraphSketch& sketch);
void ConcatStep(GraphSketch& sketch);
void SplitStep(GraphSketch& sketch);
void PadStep(GraphSketch& sketch);
void GatherStep(GraphSketch& sketch);
void ExpandStep(GraphSketch& sketch);
void TileStep(GraphSketch& sketch);

}  // namespace partita

#endif  // PARTITA_TESTS_RANDOM_GRAPH_GRAPH_SKETCH_H_
