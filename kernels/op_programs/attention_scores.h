// The scores of attention, for it and its gradient.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_
#define PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_

#include <cstdint>
#include <functional>
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

  // Unimplemented without keys.
  absl::Status Check(const IndexNode& node) const;

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

  // Sums of products of `size` neighbouring elements of two operands, as one of
  // the node's sums: its number. `offsets` are those of a step's first
  // elements.
  struct RowOffsets {
    Register a, b;
  };
  static size_t AddProducts(
      IndexNode& node, size_t a, size_t b, int64_t size,
      const std::function<RowOffsets(const IndexReader& read)>& offsets);
  // Those of a step's query and key.
  struct Step {
    AttentionRow query;
    Register key;
  };
  size_t AddScores(
      IndexNode& node,
      const std::function<Step(const IndexReader& read)>& step) const;
  // The score of the product, a sum of AddScores.
  AttentionScore Score(const IndexReader& read, Register product,
                       const Step& step) const;
  // True where the query sees the key; nullopt: everywhere.
  std::optional<Register> IsSeen(const IndexReader& read,
                                 const AttentionRow& query, Register key) const;

 private:
  const OpView& op_;
  const AttentionDims dims_;
  const size_t mask_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_ATTENTION_SCORES_H_
