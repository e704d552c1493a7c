// Comparisons, logical and bitwise functions, broadcast: a table with one row
// for each op.
// SPDX-License-Identifier: Apache-2.0

#include <functional>

#include "graph/ops/elementwise.h"

namespace partita {
namespace {

constexpr OpDef TestOp(const char* name, const char* doc,
                       const ScalarFunction* function) {
  OpDef op = BinaryOp(name, doc, function);
  op.infer = InferScalar<kNumbers, /*is_test=*/true>;
  op.no_gradient = "the result is a bool";
  return op;
}
constexpr OpDef BoolOp(const char* name, const char* doc,
                       const ScalarFunction* function) {
  OpDef op = BinaryOp(name, doc, function);
  op.infer = InferScalar<kBools>;
  op.no_gradient = kTakesNoFloats;
  op.traits.commutative = true;
  return op;
}
constexpr OpDef BitOp(const char* name, const char* doc,
                      const ScalarFunction* function) {
  OpDef op = BinaryOp(name, doc, function);
  op.infer = InferScalar<kIntegers>;
  op.no_gradient = kTakesNoFloats;
  op.traits.commutative = true;
  return op;
}
template <typename Compare, bool zero_fails>
constexpr ScalarFunction kComparison = {
    .on_double = [](DoubleArgs x, const OpView&) -> double {
      return Compare()(x[0], x[1]);
    },
    .on_int = [](IntArgs x, const OpView&) -> int64_t {
      return Compare()(x[0], x[1]);
    },
    .on_uint = [](UintArgs x, const OpView&) -> uint64_t {
      return Compare()(x[0], x[1]);
    },
    .keeps_zero = zero_fails};
constexpr OpDef EqualityOp(OpDef op) {
  op.infer = InferScalar<kAnyType, /*is_test=*/true>;
  op.traits.commutative = true;
  return op;
}

constexpr ScalarFunction kAndFunction = {
    .on_int = [](IntArgs x, const OpView&) { return x[0] & x[1]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0] & x[1]; },
    .keeps_zero = true};
constexpr ScalarFunction kOrFunction = {
    .on_int = [](IntArgs x, const OpView&) { return x[0] | x[1]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0] | x[1]; },
    .keeps_zero = true};
constexpr ScalarFunction kXorFunction = {
    .on_int = [](IntArgs x, const OpView&) { return x[0] ^ x[1]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0] ^ x[1]; },
    .keeps_zero = true};

// Bits beyond the type are dropped; too large an amount drops all bits.
constexpr ScalarFunction kShiftFunction = {
    .on_uint = [](UintArgs x, const OpView& op) -> uint64_t {
      if (x[1] > 63) return 0;
      return op.attr_bool("left") ? x[0] << x[1] : x[0] >> x[1];
    },
    .keeps_zero = true};
constexpr OpDef ShiftOp(OpDef op) {
  op.attrs = {{BoolAttr("left", true)}};
  op.infer = InferScalar<kUnsigned>;
  op.no_gradient = kTakesNoFloats;
  return op;
}

}  // namespace

// clang-format off
extern constinit const OpDef kAnd = BoolOp("and", "Whether both are true.", &kAndFunction);
extern constinit const OpDef kBitShift = ShiftOp(BinaryOp("bit_shift", "The bits of a shifted by b places, to the left or right; zeros are shifted in.", &kShiftFunction));
extern constinit const OpDef kBitwiseAnd = BitOp("bitwise_and", "The bits that both have.", &kAndFunction);
extern constinit const OpDef kBitwiseOr = BitOp("bitwise_or", "The bits that either has.", &kOrFunction);
extern constinit const OpDef kBitwiseXor = BitOp("bitwise_xor", "The bits that exactly one has.", &kXorFunction);
extern constinit const OpDef kEqual = EqualityOp(TestOp("equal", "Whether a = b.", &kComparison<std::equal_to<>, false>));
extern constinit const OpDef kGreater = TestOp("greater", "Whether a > b.", &kComparison<std::greater<>, true>);
extern constinit const OpDef kGreaterEqual = TestOp("greater_equal", "Whether a >= b.", &kComparison<std::greater_equal<>, false>);
extern constinit const OpDef kLess = TestOp("less", "Whether a < b.", &kComparison<std::less<>, true>);
extern constinit const OpDef kLessEqual = TestOp("less_equal", "Whether a <= b.", &kComparison<std::less_equal<>, false>);
extern constinit const OpDef kNotEqual = EqualityOp(TestOp("not_equal", "Whether a and b differ.", &kComparison<std::not_equal_to<>, true>));
extern constinit const OpDef kOr = BoolOp("or", "Whether at least one is true.", &kOrFunction);
extern constinit const OpDef kXor = BoolOp("xor", "Whether exactly one is true.", &kXorFunction);
// clang-format on

}  // namespace partita
