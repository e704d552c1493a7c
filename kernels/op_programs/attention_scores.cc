// The products of a query and a key are written out.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/attention_scores.h"

#include "kernels/codegen/float_functions.h"
#include "kernels/op_programs/products.h"

namespace partita {
namespace {

constexpr int64_t kMostSize = 256;

}  // namespace

absl::Status AttentionReader::Check(const IndexNode& node,
                                    int64_t longest) const {
  if (longest > kMostSize || dims_.keys == 0) {
    return node.NotGenerated("rows of more than 256 elements, or no keys");
  }
  return absl::OkStatus();
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

Register AttentionReader::Product(const IndexReader& read, size_t a,
                                  Register a_offset, size_t b,
                                  Register b_offset, int64_t size) const {
  Register product = read.Constant(read.NumberType(0), 0);
  for (int64_t i = 0; i < size; ++i) {
    const Register at = read.Index(i);
    product = AddProduct(product, read.Number(a, a_offset + at),
                         read.Number(b, b_offset + at));
  }
  return product;
}

AttentionScore AttentionReader::Score(const IndexReader& read,
                                      const AttentionRow& query,
                                      Register key) const {
  const double scale = op_.attr_float("scale");
  Register value =
      Product(read, 0, QueryOffset(read, query, dims_.size), 1,
              KeyOffset(read, KeyOf(query, key), dims_.size), dims_.size) *
      scale;
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
