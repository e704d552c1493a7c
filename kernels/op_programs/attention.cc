// Attention: each element of the result goes through the keys twice, for the
// greatest score and then for the weights. Elements of a group share scores.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/ops/attention_dims.h"
#include "graph/status_macros.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/products.h"

namespace partita {
namespace {

constexpr size_t kMask = 3;
// The products of a query and a key are written out.
constexpr int64_t kMostSize = 256;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The coordinates of a point of the result.
struct Query {
  Register sample, head, position, column;
};

Query QueryOf(const IndexNode& node, const IndexReader& read,
              const AttentionDims& d) {
  const std::vector<Register> point = node.Point(read);
  return {point[0], point[d.HeadsDim()], point[d.PositionsDim()], point[3]};
}

// The offset of a row of queries, keys or values.
Register RowOf(const IndexReader& read, const AttentionStrides& strides,
               Register sample, Register head, Register position) {
  return read.Offset({sample, head, position},
                     {strides.sample, strides.head, strides.position});
}

Register Score(const OpView& op, const IndexReader& read,
               const AttentionDims& d, const Query& query, Register key) {
  const Register a = RowOf(read, d.StridesOf(d.heads, d.queries, d.size),
                           query.sample, query.head, query.position);
  const Register b = RowOf(read, d.StridesOf(d.kv_heads, d.keys, d.size),
                           query.sample, Quotient(query.head, d.group()), key);
  Register product = read.Constant(ScalarType::kF32, 0);
  for (int64_t i = 0; i < d.size; ++i) {
    const Register at = read.Index(i);
    product =
        AddProduct(product, read.Number(0, a + at), read.Number(1, b + at));
  }
  Register score = product * op.attr_float("scale");
  const double softcap = op.attr_float("softcap");
  if (softcap > 0) {
    score = Tanh(score / Like(score, softcap)) * softcap;
  }
  if (op.num_operands() <= static_cast<int>(kMask)) return score;
  const MaskStrides mask(op.operand_type(kMask).dims);
  return score +
         read.Number(
             kMask,
             read.Offset({query.sample, query.head, query.position, key},
                         {mask.sample, mask.head, mask.query, mask.key}));
}

}  // namespace

absl::Status BuildAttention(IndexNode& node) {
  const OpView& op = node.op();
  const AttentionDims d(op);
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  if (op.operand_type(0).dtype == DType::kF64) {
    return node.NotGenerated("exponentials of f64");
  }
  if (d.size > kMostSize || d.keys == 0) {
    return node.NotGenerated("queries of more than 256 elements, or no keys");
  }
  node.SetPoints(op.result_type(0).dims);
  node.SetSteps({2, d.keys});
  const auto f32 = [](const IndexReader& read, double value) {
    return read.Constant(ScalarType::kF32, value);
  };
  // The greatest score, the sum of weights, and the weighted sum of values.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {f32(read, -kInfinity), f32(read, 0), f32(read, 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Query query = QueryOf(node, read, d);
    const Register key = read.Step(1);
    const Register score = Score(op, read, d, query, key);
    const Register top = read.State(0);
    const Register greater = Select((top < score) | IsNan(score), score, top);
    const Register weight = Exp(score - top);
    const Register value = read.Number(
        2, RowOf(read, d.StridesOf(d.kv_heads, d.keys, d.value_size),
                 query.sample, Quotient(query.head, d.group()), key) +
               query.column);
    const Register seeks = Equal(read.Step(0), read.Index(0));
    Register counts = Equal(read.Step(0), read.Index(1));
    Register compares = seeks;
    if (d.causal) {
      const Register is_seen = key <= query.position + read.Index(d.past);
      counts = counts & is_seen;
      compares = compares & is_seen;
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
      const Register is_blind = Equal(read.State(0), f32(read, -kInfinity));
      mean = Select(is_blind, f32(read, 0), mean);
    }
    return {StoredIn(type, mean)};
  });
  return absl::OkStatus();
}

}  // namespace partita
