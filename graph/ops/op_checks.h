// Checks of operands and attributes that many ops share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_OP_CHECKS_H_
#define PARTITA_GRAPH_OPS_OP_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"

namespace partita {

// Sets of element types.
inline constexpr int kFloats = 1;
inline constexpr int kSigned = 2;
inline constexpr int kUnsigned = 4;
inline constexpr int kBools = 8;
inline constexpr int kIntegers = kSigned | kUnsigned;
inline constexpr int kNumbers = kFloats | kIntegers;
inline constexpr int kAnyType = kNumbers | kBools;
bool IsOneOf(DType dtype, int accepted);

// "operand 1 %b: f32[32]".
std::string Describe(const OpView& op, int operand);

absl::Status ExpectDType(const OpView& op, int operand, int accepted);
// All operands have the element type of the first.
absl::Status ExpectOneDType(const OpView& op);
absl::Status ExpectRank(const OpView& op, int operand, int min,
                        int max = kMaxRank);
// The operand has exactly these extents.
absl::Status ExpectDims(const OpView& op, int operand,
                        absl::Span<const int64_t> dims);
// An ints attribute has one entry for each of `rank` dimensions.
absl::Status ExpectPerDimension(const OpView& op, absl::string_view attr,
                                int rank);
// The string attribute `name` is one of these words.
absl::Status ExpectWord(const OpView& op, absl::string_view name,
                        absl::Span<const absl::string_view> words);
// The int attribute `name` is a dimension of operand 0 (or of a result of that
// rank), from -rank to rank - 1.
absl::Status ExpectAxis(const OpView& op, absl::string_view name, int rank);

// The attribute as 0..rank-1, after ExpectAxis.
int AxisAttr(const OpView& op, absl::string_view name, int rank);
// The attribute "axis" as a dimension of operand 0.
inline int AxisOf(const OpView& op) {
  return AxisAttr(op, "axis", op.operand_type(0).rank());
}

// The extents of all operands after numpy broadcasting.
absl::StatusOr<Shape> BroadcastOperands(const OpView& op);
// Broadcasts `dims` with other extents; false if they do not agree.
bool BroadcastInto(absl::Span<const int64_t> other, Shape& dims);

inline Shape ToShape(absl::Span<const int64_t> dims) {
  return Shape(dims.begin(), dims.end());
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_OP_CHECKS_H_
