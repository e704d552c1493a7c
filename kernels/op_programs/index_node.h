// A node that an index program is written for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_OP_PROGRAMS_INDEX_NODE_H_
#define PARTITA_KERNELS_OP_PROGRAMS_INDEX_NODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "graph/tensor_type.h"
#include "kernels/codegen/index_builder.h"
#include "kernels/codegen/index_program.h"

namespace partita {

// As what a program reads an operand.
enum class OperandUse : uint8_t {
  kBits,    // moved; any dtype
  kNumber,  // computed with; bools as 0 and 1
  kIndex,   // i32 or i64
  kUnread,  // only its type matters
};

class IndexNode {
 public:
  // `op` must outlive the node. `has_fma` as for ProgramBuilder.
  IndexNode(const OpView& op, bool has_fma);

  const OpView& op() const { return op_; }
  IndexProgram& program() { return program_; }
  const IndexProgram& program() const { return program_; }

  // Unimplemented, naming the node and what was found.
  absl::Status NotGenerated(absl::string_view found) const;

  // The uses of the operands in order; the last one is that of all others.
  // Unimplemented for dtypes without such a use.
  absl::Status SetOperands(absl::Span<const OperandUse> uses);

  // Dimensions of the points, in result order. Those of extent 1 have no loop.
  void SetPoints(absl::Span<const int64_t> dims);
  void SetSteps(absl::Span<const int64_t> steps);
  // The coordinates of a point by dimension, and of a step.
  std::vector<Register> Point(const IndexReader& read) const;
  std::vector<Register> Step(const IndexReader& read) const;

  void First(const IndexFormula& formula);
  // A sum that each step needs, after the sums so far; its number.
  size_t AddSum(int64_t terms, const IndexFormula& formula);
  void EachStep(const IndexFormula& formula);
  void Last(const IndexFormula& formula);

  // What follows the op in a fused node: the stored results of the op's value,
  // a 16-bit float as f32.
  using Epilogue = std::function<std::vector<Register>(const IndexReader& read,
                                                       Register value)>;
  void SetEpilogue(Epilogue epilogue) { epilogue_ = std::move(epilogue); }
  // `last` of an op with one result of this type: stores its value, or what the
  // epilogue makes of it.
  void LastValue(ScalarType type,
                 const std::function<Register(const IndexReader& read)>& value);

 private:
  const OpView& op_;
  const bool has_fma_;
  IndexProgram program_;
  std::vector<int> loop_of_dim_;  // -1: none
  Epilogue epilogue_;
};

// An element of the dtype as bits of the same size.
ScalarType BitsTypeOf(DType dtype);

// An element that an index operand selects.
struct SelectedIndex {
  Register index;      // of the program's index type
  Register is_inside;  // of the extent; elsewhere nothing may be read
};
// Reads number `offset` of an operand used as kIndex. With `from_end` a
// negative one counts from the end.
SelectedIndex ReadIndex(const IndexReader& read, size_t operand,
                        Register offset, int64_t extent, bool from_end = true);

// A conjunction that is true if nothing was added.
class Conditions {
 public:
  void Add(Register condition);
  const std::optional<Register>& all() const { return all_; }
  // `value` where all hold, otherwise `other`.
  Register Choose(Register value, Register other) const;

 private:
  std::optional<Register> all_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_OP_PROGRAMS_INDEX_NODE_H_
