// Attention: each element of the result goes through the keys twice, for the
// greatest score and then for the weights. Elements of a group share scores.
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

constexpr size_t kMask = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

absl::Status BuildAttention(IndexNode& node) {
  const OpView& op = node.op();
  const AttentionReader attention(op, kMask);
  const AttentionDims& d = attention.dims();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  PARTITA_RETURN_IF_ERROR(attention.Check(node));
  node.SetPoints(op.result_type(0).dims);
  node.SetSteps({2, d.keys});
  const auto number = [](const IndexReader& read, double value) {
    return read.Constant(read.NumberType(0), value);
  };
  // The greatest score, the sum of weights, and the weighted sum of values.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {number(read, -kInfinity), number(read, 0), number(read, 0)};
  });
  const auto step_of = [&](const IndexReader& read) {
    return AttentionReader::Step{attention.RowAt(node.Point(read)),
                                 read.Step(1)};
  };
  const size_t product = attention.AddScores(node, step_of);
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const AttentionReader::Step step = step_of(read);
    const auto& [query, key] = step;
    const Register score = attention.Score(read, read.Sum(product), step).value;
    const Register top = read.State(0);
    const Register greater = Select((top < score) | IsNan(score), score, top);
    const Register weight = Exp(score - top);
    const Register value = read.Number(
        2,
        attention.KeyOffset(read, attention.KeyOf(query, key), d.value_size) +
            node.Point(read)[3]);
    Register compares = Equal(read.Step(0), read.Index(0));
    Register counts = Equal(read.Step(0), read.Index(1));
    if (const auto is_seen = attention.IsSeen(read, query, key)) {
      counts = counts & *is_seen;
      compares = compares & *is_seen;
    }
    return {Select(compares, greater, top),
            Select(counts, read.State(1) + weight, read.State(1)),
            Select(counts, AddProduct(read.State(2), weight, value),
                   read.State(2))};
  });
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    Register mean = read.State(2) / read.State(1);
    if (op.attr_bool("zero_blind")) {
      const Register is_blind = Equal(read.State(0), number(read, -kInfinity));
      mean = Select(is_blind, number(read, 0), mean);
    }
    return {StoredNumber(type, mean)};
  });
  return absl::OkStatus();
}

}  // namespace partita
