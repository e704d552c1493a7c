// Types of operands, and loops.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/index_node.h"

#include <algorithm>

#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/not_generated.h"
#include "kernels/codegen/scalar_type.h"

namespace partita {
namespace {

// Twice as much still fits into 31 bits, as do coordinates before a window's
// first element.
constexpr int64_t kMostNear = int64_t{1} << 30;

bool IsNear(const OpView& op) {
  int64_t most = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    most = std::max(most, op.operand_type(i).num_stored_elements());
  }
  for (int i = 0; i < op.num_results(); ++i) {
    most = std::max(most, op.result_type(i).num_stored_elements());
  }
  return most <= kMostNear;
}

std::optional<ScalarType> TypeFor(OperandUse use, DType dtype) {
  switch (use) {
    case OperandUse::kBits:
    case OperandUse::kUnread:
      return BitsTypeOf(dtype);
    case OperandUse::kIndex:
      if (dtype != DType::kI32 && dtype != DType::kI64) return std::nullopt;
      break;
    case OperandUse::kNumber:
      break;
  }
  return ScalarTypeOf(dtype);
}

}  // namespace

IndexNode::IndexNode(const OpView& op, bool has_fma)
    : op_(op), has_fma_(has_fma) {
  program_.index = IsNear(op) ? ScalarType::kI32 : ScalarType::kI64;
}

absl::Status IndexNode::NotGenerated(absl::string_view found) const {
  return partita::NotGenerated(op_, found);
}

absl::Status IndexNode::SetOperands(absl::Span<const OperandUse> uses) {
  program_.operands.clear();
  for (int i = 0; i < op_.num_operands(); ++i) {
    const OperandUse use =
        uses[std::min<size_t>(static_cast<size_t>(i), uses.size() - 1)];
    const TensorType& type = op_.operand_type(i);
    const std::optional<ScalarType> scalar = TypeFor(use, type.dtype);
    if (!scalar.has_value())
      return NotGenerated("indices that are neither i32 nor i64");
    program_.operands.push_back({*scalar, type.num_stored_elements()});
  }
  return absl::OkStatus();
}

void IndexNode::SetPoints(absl::Span<const int64_t> dims) {
  program_.loops.clear();
  loop_of_dim_.assign(dims.size(), -1);
  if (Product(dims) == 0) {
    program_.loops = {0};
    return;
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    loop_of_dim_[d] = static_cast<int>(program_.loops.size());
    program_.loops.push_back(dims[d]);
  }
}

void IndexNode::SetSteps(absl::Span<const int64_t> steps) {
  program_.steps.assign(steps.begin(), steps.end());
}

std::vector<Register> IndexNode::Point(const IndexReader& read) const {
  std::vector<Register> point;
  for (int loop : loop_of_dim_) {
    point.push_back(loop < 0 ? read.Index(0)
                             : read.Loop(static_cast<size_t>(loop)));
  }
  return point;
}

std::vector<Register> IndexNode::Step(const IndexReader& read) const {
  std::vector<Register> step;
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    // What is always 0 keeps neighbours aligned: a filter of width 1.
    step.push_back(program_.steps[i] == 1 ? read.Index(0) : read.Step(i));
  }
  return step;
}

void IndexNode::First(const IndexFormula& formula) {
  SetFirst(formula, has_fma_, program_);
}
size_t IndexNode::AddSum(int64_t terms, const IndexFormula& formula) {
  partita::AddSum(terms, formula, has_fma_, program_);
  return program_.sums.size() - 1;
}
void IndexNode::EachStep(const IndexFormula& formula) {
  SetStep(formula, has_fma_, program_);
}
void IndexNode::Last(const IndexFormula& formula) {
  SetLast(formula, has_fma_, program_);
}

void IndexNode::LastValue(
    ScalarType type,
    const std::function<Register(const IndexReader& read)>& value) {
  Last([&](const IndexReader& read) -> std::vector<Register> {
    if (epilogue_ == nullptr) return {StoredNumber(type, value(read))};
    const Register computed = value(read);
    return epilogue_(read, RoundedTo(type, computed));
  });
}

ScalarType BitsTypeOf(DType dtype) {
  switch (BitsOf(dtype)) {
    case 64:
      return ScalarType::kI64;
    case 32:
      return ScalarType::kI32;
    case 16:
      return ScalarType::kU16;
    default:
      return ScalarType::kU8;
  }
}

SelectedIndex ReadIndex(const IndexReader& read, size_t operand,
                        Register offset, int64_t extent, bool from_end) {
  const Register given = read.Number(operand, offset);
  const Register end = Like(given, static_cast<double>(extent));
  const Register zero = Like(given, 0);
  const Register index =
      from_end ? Select(given < zero, given + end, given) : given;
  return {Cast(index, read.Index(0).type), (zero <= index) & (index < end)};
}

void Conditions::Add(Register condition) {
  all_ = all_.has_value() ? *all_ & condition : condition;
}

Register Conditions::Choose(Register value, Register other) const {
  return all_.has_value() ? Select(*all_, value, other) : value;
}

}  // namespace partita
