// Results without elements of operands.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/number.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/scalar_type.h"
#include "kernels/op_programs/constant_bits.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

Register I64(const IndexReader& read, uint64_t bits) {
  return read.Bits(ScalarType::kI64, bits);
}

// start + i * step, modulo 2^64.
Register WrappedProgression(const OpView& op, const IndexReader& read,
                            Register i) {
  return I64(read, op.attr_number("start").ToWrapped()) +
         Cast(i, ScalarType::kI64) *
             I64(read, op.attr_number("step").ToWrapped());
}

// The same in f64.
Register RealProgression(const OpView& op, const IndexReader& read,
                         Register i) {
  const auto real = [&](const char* name) {
    return read.Constant(ScalarType::kF64, op.attr_number(name).ToDouble());
  };
  return real("start") + Cast(i, ScalarType::kF64) * real("step");
}

}  // namespace

absl::Status BuildFill(IndexNode& node) {
  const TensorType& y = node.op().result_type(0);
  node.SetPoints({y.num_elements()});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {BitsOfNumber(read, node.op().attr_number("value"), y.dtype)};
  });
  return absl::OkStatus();
}

absl::Status BuildIota(IndexNode& node) {
  const OpView& op = node.op();
  const DType dtype = op.attr_dtype("dtype");
  const bool is_integer = op.attr_number("start").is_integer() &&
                          op.attr_number("step").is_integer();
  if (!IsFloat(dtype) && !is_integer) {
    return node.NotGenerated("integers between floats");
  }
  node.SetPoints({op.attr_int("count")});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register i = node.Point(read)[0];
    if (!IsFloat(dtype)) {
      return {Cast(WrappedProgression(op, read, i), BitsTypeOf(dtype))};
    }
    const Register value = RealProgression(op, read, i);
    if (dtype == DType::kF64) return {value};
    return {StoredNumber(ScalarTypeOf(dtype), Cast(value, ScalarType::kF32))};
  });
  return absl::OkStatus();
}

absl::Status BuildShape(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  const int64_t rank = static_cast<int64_t>(x.size());
  const int64_t start = op.attr_int("start");
  const int64_t first =
      std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  const int64_t count = op.result_type(0).num_elements();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kUnread}));
  node.SetPoints({count});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    Register extent = I64(read, 0);
    for (int64_t i = 0; i < count; ++i) {
      extent = Select(Equal(node.Point(read)[0], read.Index(i)),
                      I64(read, static_cast<uint64_t>(x[first + i])), extent);
    }
    return {extent};
  });
  return absl::OkStatus();
}

absl::Status BuildSize(IndexNode& node) {
  const uint64_t count =
      static_cast<uint64_t>(node.op().operand_type(0).num_elements());
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kUnread}));
  node.SetPoints({});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {I64(read, count)};
  });
  return absl::OkStatus();
}

}  // namespace partita
