// The products of a query and a key are sums of a step.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/attention_scores.h"

#include "kernels/codegen/float_functions.h"
#include "kernels/op_programs/products.h"

namespace partita {
absl::Status AttentionReader::Check(const IndexNode& node) const {
  return dims_.keys == 0 ? node.NotGenerated("no keys") : absl::OkStatus();
}

AttentionRow AttentionReader::RowAt(const std::vector<Register>& point) const {
  return {point[0], point[dims_.HeadsDim()], point[dims_.PositionsDim()]};
}

Register AttentionReader::QueryOffset(const IndexReader& read,
                                      const AttentionRow& row,
                                      int64_t size) const {
  const AttentionStrides strides =
      dims_.StridesOf(dims_.heads, dims_.queries, size);
  return read.Offset({row.sample, row.head, row.position},
                     {strides.sample, strides.head, strides.position});
}

Register AttentionReader::KeyOffset(const IndexReader& read,
                                    const AttentionRow& row,
                                    int64_t size) const {
  const AttentionStrides strides =
      dims_.StridesOf(dims_.kv_heads, dims_.keys, size);
  return read.Offset({row.sample, row.head, row.position},
                     {strides.sample, strides.head, strides.position});
}

AttentionRow AttentionReader::KeyOf(const AttentionRow& query,
                                    Register position) const {
  return {query.sample, Quotient(query.head, dims_.group()), position};
}

size_t AttentionReader::AddProducts(
    IndexNode& node, size_t a, size_t b, int64_t size,
    const std::function<RowOffsets(const IndexReader& read)>& offsets) {
  return node.AddSum(size,
                     [&](const IndexReader& read) -> std::vector<Register> {
                       const RowOffsets first = offsets(read);
                       const Register term = read.Term();
                       return {AddProduct(read.SumSoFar(read.NumberType(a)),
                                          read.Number(a, first.a + term),
                                          read.Number(b, first.b + term))};
                     });
}

size_t AttentionReader::AddScores(
    IndexNode& node,
    const std::function<Step(const IndexReader& read)>& step) const {
  return AddProducts(
      node, /*a=*/0, /*b=*/1, dims_.size,
      [&](const IndexReader& read) -> RowOffsets {
        const Step now = step(read);
        return {QueryOffset(read, now.query, dims_.size),
                KeyOffset(read, KeyOf(now.query, now.key), dims_.size)};
      });
}

AttentionScore AttentionReader::Score(const IndexReader& read, Register product,
                                      const Step& step) const {
  const auto& [query, key] = step;
  const double scale = op_.attr_float("scale");
  Register value = product * scale;
  Register slope = read.Constant(read.NumberType(0), scale);
  const double softcap = op_.attr_float("softcap");
  if (softcap > 0) {
    const Register capped = Tanh(value / Like(value, softcap));
    value = capped * softcap;
    slope = (1 - capped * capped) * scale;
  }
  if (op_.num_operands() <= static_cast<int>(mask_)) return {value, slope};
  const MaskStrides mask(op_.operand_type(static_cast<int>(mask_)).dims);
  return {
      value + read.Number(
                  mask_,
                  read.Offset({query.sample, query.head, query.position, key},
                              {mask.sample, mask.head, mask.query, mask.key})),
      slope};
}

std::optional<Register> AttentionReader::IsSeen(const IndexReader& read,
                                                const AttentionRow& query,
                                                Register key) const {
  if (!dims_.causal) return std::nullopt;
  return key <= query.position + read.Index(dims_.past);
}

}  // namespace partita
