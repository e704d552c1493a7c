// Checks of operands and attributes, with their messages.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_checks.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"

namespace partita {
namespace {

std::string TypeSetName(int accepted) {
  std::vector<absl::string_view> names;
  if (accepted & kFloats) names.push_back("float");
  if ((accepted & kIntegers) == kIntegers) {
    names.push_back("integer");
  } else if (accepted & kSigned) {
    names.push_back("signed integer");
  } else if (accepted & kUnsigned) {
    names.push_back("unsigned integer");
  }
  if (accepted & kBools) names.push_back("bool");
  return absl::StrJoin(names, " or ");
}

}  // namespace

bool IsOneOf(DType dtype, int accepted) {
  if (IsFloat(dtype)) return accepted & kFloats;
  if (IsSignedInteger(dtype)) return accepted & kSigned;
  if (IsUnsignedInteger(dtype)) return accepted & kUnsigned;
  return accepted & kBools;
}

std::string Describe(const OpView& op, int operand) {
  const ValueView value = op.operand(operand);
  const std::string name =
      value.name().empty() ? "" : absl::StrCat(" %", value.name());
  return absl::StrCat("operand ", operand, name, ": ", value.type().ToString());
}

absl::Status ExpectDType(const OpView& op, int operand, int accepted) {
  if (IsOneOf(op.operand_type(operand).dtype, accepted)) {
    return absl::OkStatus();
  }
  return BadOp(op, Describe(op, operand),
               absl::StrCat("a ", TypeSetName(accepted), " type"),
               "cast the operand");
}

absl::Status ExpectOneDType(const OpView& op) {
  const DType wanted = op.operand_type(0).dtype;
  for (int i = 1; i < op.num_operands(); ++i) {
    if (op.operand_type(i).dtype == wanted) continue;
    return BadOp(op, Describe(op, i),
                 absl::StrCat(DTypeName(wanted), " like ", Describe(op, 0)),
                 absl::StrCat("cast operand ", i, " to ", DTypeName(wanted)));
  }
  return absl::OkStatus();
}

absl::Status ExpectRank(const OpView& op, int operand, int min, int max) {
  const int rank = op.operand_type(operand).rank();
  if (rank >= min && rank <= max) return absl::OkStatus();
  const std::string wanted = min == max ? absl::StrCat("rank ", min)
                                        : absl::StrCat("rank ", min, "..", max);
  return BadOp(op, Describe(op, operand), wanted, "reshape the operand");
}

absl::Status ExpectDims(const OpView& op, int operand,
                        absl::Span<const int64_t> dims) {
  if (absl::MakeConstSpan(op.operand_type(operand).dims) == dims) {
    return absl::OkStatus();
  }
  return BadExtents(op, Describe(op, operand),
                    absl::StrCat("extents [", absl::StrJoin(dims, ", "), "]"),
                    "reshape or expand the operand");
}

absl::Status ExpectPerDimension(const OpView& op, absl::string_view attr,
                                int rank) {
  const std::vector<int64_t>& list = op.attr_ints(attr);
  if (list.size() == static_cast<size_t>(rank)) return absl::OkStatus();
  return BadOp(op,
               absl::StrCat(attr, " = [", absl::StrJoin(list, ", "), "] for ",
                            Describe(op, 0)),
               absl::StrCat(rank, " entries"),
               absl::StrCat("give one entry of ", attr, " per dimension"));
}

absl::Status ExpectWord(const OpView& op, absl::string_view name,
                        absl::Span<const absl::string_view> words) {
  const std::string word = op.attr_string(name);
  if (absl::c_linear_search(words, word)) return absl::OkStatus();
  return BadOp(op, absl::StrCat(name, " \"", word, "\""),
               absl::StrCat("one of: ", absl::StrJoin(words, ", ")),
               "name one of them");
}

absl::Status ExpectAxis(const OpView& op, absl::string_view name, int rank) {
  const int64_t axis = op.attr_int(name);
  if (axis >= -rank && axis < rank) return absl::OkStatus();
  const std::string wanted = rank == 0 ? "a tensor of at least one dimension"
                                       : absl::StrCat(-rank, "..", rank - 1);
  return BadOp(
      op, absl::StrCat(name, " ", axis, " on ", op.operand_type(0).ToString()),
      wanted, "use axis = -1 for the innermost dimension");
}

int AxisAttr(const OpView& op, absl::string_view name, int rank) {
  const int64_t axis = op.attr_int(name);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool BroadcastInto(absl::Span<const int64_t> other, Shape& dims) {
  if (other.size() > dims.size()) {
    dims.insert(dims.begin(), other.size() - dims.size(), 1);
  }
  const size_t missing = dims.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& dim = dims[missing + i];
    if (dim == other[i] || other[i] == 1) continue;
    if (dim != 1) return false;
    dim = other[i];
  }
  return true;
}

absl::StatusOr<Shape> BroadcastOperands(const OpView& op) {
  Shape dims = op.operand_type(0).dims;
  for (int i = 1; i < op.num_operands(); ++i) {
    const Shape before = dims;
    if (BroadcastInto(op.operand_type(i).dims, dims)) continue;
    return BadExtents(
        op, Describe(op, i),
        absl::StrCat("extents that broadcast with [",
                     absl::StrJoin(before, ", "), "]"),
        "extents must be equal or 1, counted from the last; reshape or expand");
  }
  return dims;
}

}  // namespace partita
