// Checks the gradient of every op in the table against finite differences in
// f64, over the samples of the op. Every op without a gradient has a reason.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/gradient/gradient.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// The sample with f64 in place of f32. False for samples of other floats, which
// would repeat it, and for samples without floats.
bool ToDouble(OpSample& sample) {
  bool any = false;
  for (SampleOperand& operand : sample.operands) {
    if (!IsFloat(operand.dtype)) continue;
    if (operand.dtype != DType::kF32) return false;
    operand.dtype = DType::kF64;
    any = true;
  }
  for (const Attributes::Entry& entry : sample.attributes.entries()) {
    const DType* dtype = std::get_if<DType>(&entry.second);
    if (dtype == nullptr || !IsFloat(*dtype)) continue;
    sample.attributes.Set(entry.first, DType::kF64);
    break;
  }
  return any;
}

// One node with its operands, and weights for its results: the differentiated
// function is the weighted sum of all results.
class Problem {
 public:
  explicit Problem(const OpSample& sample)
      : sample_(sample), graph_("g", &literals_) {
    const auto node = AddSample(sample, graph_);
    EXPECT_TRUE(node.ok()) << node.status();
    node_ = *node;
  }

  bool has_float_result() const {
    for (int i = 0; i < view().num_results(); ++i) {
      if (IsFloat(view().result_type(i).dtype)) return true;
    }
    return false;
  }

  // Draws operands in the sample's range, or in the first range with finite
  // results.
  void Draw() {
    constexpr std::pair<double, double> kRanges[] = {
        {0.1, 3}, {1.1, 3}, {-0.9, 0.9}};
    DrawOperands();
    for (auto [low, high] : kRanges) {
      if (std::isfinite(WeightedSum())) return;
      for (SampleOperand& operand : sample_.operands) {
        if (!IsFloat(operand.dtype)) continue;
        operand.low = low;
        operand.high = high;
      }
      DrawOperands();
    }
    ASSERT_TRUE(std::isfinite(WeightedSum()));
  }

  // Gradients as nodes, in the order of the float operands.
  std::vector<HostTensor> Gradients() {
    std::vector<Loss> losses;
    std::vector<HostTensor> inputs;
    for (const HostTensor& operand : operands_) {
      inputs.push_back(operand.Clone());
    }
    for (int i = 0; i < view().num_results(); ++i) {
      if (!IsFloat(view().result_type(i).dtype)) continue;
      losses.push_back(
          {view().result(i).id(),
           graph_.AddInput(absl::StrCat("dy", i), view().result_type(i))});
      inputs.push_back(weights_[i].Clone());
    }
    std::vector<ValueId> wanted;
    for (int i : FloatOperands()) wanted.push_back(view().operand(i).id());
    auto gradients = AddGradients(graph_, losses, wanted);
    EXPECT_TRUE(gradients.ok()) << gradients.status();
    if (!gradients.ok()) return {};
    graph_.SetOutputs(*gradients);
    auto values = Evaluate(graph_, inputs);
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? std::move(*values) : std::vector<HostTensor>();
  }

  std::vector<int> FloatOperands() const {
    std::vector<int> operands;
    for (int i = 0; i < view().num_operands(); ++i) {
      if (IsFloat(view().operand_type(i).dtype)) operands.push_back(i);
    }
    return operands;
  }

  // The derivative by element `i` of an operand: the central difference of
  // fourth order.
  double Difference(int operand, int64_t i) {
    const double x = GetAsDouble(operands_[operand], i);
    const double h = 1e-4 * (1 + std::fabs(x)) / 8;
    const auto at = [&](double moved) {
      SetFromDouble(operands_[operand], i, moved);
      return WeightedSum();
    };
    const double difference =
        (8 * (at(x + h) - at(x - h)) - (at(x + 2 * h) - at(x - 2 * h))) /
        (12 * h);
    SetFromDouble(operands_[operand], i, x);
    return difference;
  }

 private:
  OpView view() const { return graph_.view(node_); }

  void DrawOperands() {
    operands_.clear();
    weights_.clear();
    uint32_t seed = 11;
    for (const SampleOperand& operand : sample_.operands) {
      operands_.push_back(RandomTensor(operand, seed++));
    }
    for (int i = 0; i < view().num_results(); ++i) {
      const TensorType& type = view().result_type(i);
      weights_.push_back(
          RandomTensor(SampleOperand{type.dtype, type.dims, 0.5, 1.5}, seed++));
    }
  }

  double WeightedSum() const {
    const auto results = EvaluateNode(view(), operands_);
    EXPECT_TRUE(results.ok()) << results.status();
    double sum = 0;
    for (size_t r = 0; r < results->size(); ++r) {
      if (!IsFloat((*results)[r].type().dtype)) continue;
      for (int64_t i = 0; i < (*results)[r].type().num_elements(); ++i) {
        sum += GetAsDouble((*results)[r], i) * GetAsDouble(weights_[r], i);
      }
    }
    return sum;
  }

  OpSample sample_;
  LiteralPool literals_;
  Graph graph_;
  NodeId node_;
  std::vector<HostTensor> operands_;
  std::vector<HostTensor> weights_;
};

void ExpectGradientsAreDifferences(Problem& problem) {
  const std::vector<HostTensor> gradients = problem.Gradients();
  const std::vector<int> operands = problem.FloatOperands();
  ASSERT_EQ(gradients.size(), operands.size());
  for (size_t n = 0; n < operands.size(); ++n) {
    for (int64_t i = 0; i < gradients[n].type().num_elements(); ++i) {
      const double found = GetAsDouble(gradients[n], i);
      const double expected = problem.Difference(operands[n], i);
      ASSERT_NEAR(found, expected, 1e-6 * (1 + std::fabs(expected)))
          << "operand " << operands[n] << ", element " << i;
    }
  }
}

TEST(FiniteDifferences, EveryGradientIsTheSlope) {
  std::set<const OpDef*> checked;
  for (OpSample sample : OpSamples()) {
    SCOPED_TRACE(ToString(sample));
    if (sample.op->no_gradient != nullptr || !ToDouble(sample)) continue;
    Problem problem(sample);
    if (!problem.has_float_result()) continue;
    problem.Draw();
    ExpectGradientsAreDifferences(problem);
    if (::testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "of " << ToString(sample);
      continue;
    }
    checked.insert(sample.op);
  }
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef* op = kOpTable[i];
    EXPECT_NE(checked.count(op) > 0, op->no_gradient != nullptr)
        << op->name
        << ": found neither a checked gradient nor no_gradient, or both";
  }
}

// A gradient of zeros may have a reason: stop_gradient's is not the slope.
TEST(FiniteDifferences, OnlyOpsWithoutAGradientHaveAReason) {
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    if (op.no_gradient == nullptr || &op == &kStopGradient) continue;
    EXPECT_EQ(op.gradient, nullptr) << op.name << ": " << op.no_gradient;
  }
  EXPECT_EQ(kStopGradient.gradient, ZeroGradient);
}

}  // namespace
}  // namespace partita
