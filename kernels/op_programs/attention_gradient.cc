// The gradient of attention: a part for each of its results. Nothing is stored
// between parts, so that a part goes through all keys of a query for the weight
// of one of them; those of keys and values do so for each query of their group.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/attention_scores.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/products.h"

namespace partita {
namespace {

constexpr size_t kQueries = 0;
constexpr size_t kKeys = 1;
constexpr size_t kValues = 2;
constexpr size_t kGradient = 3;
constexpr size_t kMask = 4;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A query goes through its keys three times: for the greatest score, for the
// sums, and for the results.
constexpr int64_t kRounds = 3;

// A step: a query, a key, and the number of the round.
struct Step : AttentionReader::Step {
  Register round;
};

// By the number of the state.
enum State : size_t {
  kTop,    // the greatest score
  kSum,    // of the weights, which are exponentials of scores minus kTop
  kSlope,  // the sum of weights times their derivatives
  kResult,
};

class GradientPart {
 public:
  GradientPart(IndexNode& node, int result)
      : node_(node),
        attention_(node.op(), kMask),
        d_(attention_.dims()),
        result_(static_cast<size_t>(result)) {}

  absl::Status Build() {
    if (node_.op().operand_type(0).dtype == DType::kF64) {
      return node_.NotGenerated("more states of f64 than a thread's registers");
    }
    PARTITA_RETURN_IF_ERROR(node_.SetOperands({OperandUse::kNumber}));
    PARTITA_RETURN_IF_ERROR(attention_.Check(node_));
    node_.SetPoints(node_.op().result_type(static_cast<int>(result_)).dims);
    node_.SetSteps(result_ == kQueries
                       ? Shape{kRounds, d_.keys}
                       : Shape{d_.group(), d_.queries, kRounds, d_.keys});
    node_.First([](const IndexReader& read) -> std::vector<Register> {
      return {NumberOf(read, -kInfinity), NumberOf(read, 0), NumberOf(read, 0),
              NumberOf(read, 0)};
    });
    product_ = attention_.AddScores(
        node_, [&](const IndexReader& read) { return StepOf(read); });
    by_weight_ = AddDerivativesByWeight();
    node_.EachStep([&](const IndexReader& read) { return States(read); });
    const ScalarType type = node_.program().operands[0].type;
    node_.Last([&](const IndexReader& read) -> std::vector<Register> {
      return {StoredNumber(type, read.State(kResult))};
    });
    return absl::OkStatus();
  }

 private:
  static Register NumberOf(const IndexReader& read, double value) {
    return read.Constant(read.NumberType(0), value);
  }

  Step StepOf(const IndexReader& read) const {
    AttentionRow row = attention_.RowAt(node_.Point(read));
    if (result_ == kQueries) return {{row, read.Step(1)}, read.Step(0)};
    row.head = row.head * read.Index(d_.group()) + read.Step(0);
    row.position = read.Step(1);
    return {{row, read.Step(3)}, read.Step(2)};
  }

  std::vector<Register> States(const IndexReader& read) const {
    const Step step = StepOf(read);
    const AttentionScore score =
        attention_.Score(read, read.Sum(product_), step);
    const Register by_weight = read.Sum(by_weight_);
    const auto in_round = [&](int64_t round) {
      const Register is_now = Equal(step.round, read.Index(round));
      const auto is_seen = attention_.IsSeen(read, step.query, step.key);
      return is_seen.has_value() ? is_now & *is_seen : is_now;
    };
    // Each query sees its first key.
    const Register is_first = Equal(step.key, read.Index(0));
    const Register top = read.State(kTop);
    const Register weight = Exp(score.value - top);
    const auto add = [&](State state, Register term) {
      const Register sum = read.State(state);
      return Select(in_round(1),
                    Select(is_first, NumberOf(read, 0), sum) + term, sum);
    };
    const Register is_greater =
        is_first | (top < score.value) | IsNan(score.value);
    return {Select(in_round(0), Select(is_greater, score.value, top), top),
            add(kSum, weight), add(kSlope, weight * by_weight),
            Select(IsAdded(read, in_round(2), step),
                   AddProduct(read.State(kResult),
                              Factor(read, weight, by_weight, score.slope),
                              Other(read, step)),
                   read.State(kResult))};
  }

  // Products of the result's gradient and the key's value.
  size_t AddDerivativesByWeight() {
    return AttentionReader::AddProducts(
        node_, kGradient, kValues, d_.value_size,
        [&](const IndexReader& read) -> AttentionReader::RowOffsets {
          const Step step = StepOf(read);
          return {
              attention_.QueryOffset(read, step.query, d_.value_size),
              attention_.KeyOffset(read, attention_.KeyOf(step.query, step.key),
                                   d_.value_size)};
        });
  }

  // Gradients of keys and values have terms of their own key only.
  Register IsAdded(const IndexReader& read, Register in_round,
                   const Step& step) const {
    if (result_ == kQueries) return in_round;
    return in_round &
           Equal(step.key, attention_.RowAt(node_.Point(read)).position);
  }

  // The weight, or the derivative of the loss by the product of the two.
  Register Factor(const IndexReader& read, Register exponential,
                  Register by_weight, Register slope) const {
    const Register sum = read.State(kSum);
    Register factor = exponential / sum;
    if (result_ != kValues) {
      factor = factor * (by_weight - read.State(kSlope) / sum) * slope;
    }
    if (!node_.op().attr_bool("zero_blind")) return factor;
    const Register is_blind =
        Equal(read.State(kTop), NumberOf(read, -kInfinity));
    return Select(is_blind, NumberOf(read, 0), factor);
  }

  // What the factor is multiplied by, at the point's column.
  Register Other(const IndexReader& read, const Step& step) const {
    const Register column = node_.Point(read)[3];
    if (result_ == kQueries) {
      const AttentionRow key = attention_.KeyOf(step.query, step.key);
      return read.Number(kKeys,
                         attention_.KeyOffset(read, key, d_.size) + column);
    }
    const bool of_keys = result_ == kKeys;
    return read.Number(
        of_keys ? kQueries : kGradient,
        attention_.QueryOffset(read, step.query,
                               of_keys ? d_.size : d_.value_size) +
            column);
  }

  IndexNode& node_;
  const AttentionReader attention_;
  const AttentionDims& d_;
  const size_t result_;
  // The numbers of sums.
  size_t product_ = 0;
  size_t by_weight_ = 0;
};

}  // namespace

absl::Status BuildAttentionGradient(IndexNode& node, int result) {
  return GradientPart(node, result).Build();
}

}  // namespace partita
