// The scores of attention, for it and its gradient.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_
#define PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "graph/ops/attention_dims.h"
#include "kernels/op_programs/index_node.h"

namespace partita {

// A row of queries, keys, values or results.
struct AttentionRow {
  Register sample, head, position;
};

// The score of a query and a key.
struct AttentionScore {
  Register value;
  Register slope;  // the derivative by the product of the two
};

// An attention or its gradient, whose operands are set as numbers.
class AttentionReader {
 public:
  AttentionReader(const OpView& op, size_t mask_operand)
      : op_(op), dims_(op), mask_(mask_operand) {}

  const AttentionDims& dims() const { return dims_; }

  // Unimplemented: f64, no keys, and products of more elements, `longest` at
  // most, than are worth their code.
  absl::Status Check(const IndexNode& node, int64_t longest) const;

  // The coordinates of a point of a result.
  AttentionRow RowAt(const std::vector<Register>& point) const;
  // The offset of the row's first element in queries; and in keys or values of
  // `size` elements, whose heads are those of groups of queries.
  Register QueryOffset(const IndexReader& read, const AttentionRow& row,
                       int64_t size) const;
  Register KeyOffset(const IndexReader& read, const AttentionRow& row,
                     int64_t size) const;
  // The row of the key that a query reads.
  AttentionRow KeyOf(const AttentionRow& query, Register position) const;

  AttentionScore Score(const IndexReader& read, const AttentionRow& query,
                       Register key) const;
  // True where the query sees the key; nullopt: everywhere.
  std::optional<Register> IsSeen(const IndexReader& read,
                                 const AttentionRow& query, Register key) const;
  // The sum of products of `size` neighbouring elements of two operands.
  Register Product(const IndexReader& read, size_t a, Register a_offset,
                   size_t b, Register b_offset, int64_t size) const;

 private:
  const OpView& op_;
  const AttentionDims dims_;
  const size_t mask_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_
