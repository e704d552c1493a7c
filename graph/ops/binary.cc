// Elementwise functions of two or three broadcast operands, except comparisons
// (comparison.cc): a table with one row for each op.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/pointwise_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr OpDef Commutative(OpDef op) {
  op.traits.commutative = true;
  return op;
}
constexpr OpDef Rounded(OpDef op) {
  op.tolerance = Tolerance::kRounding;
  return op;
}

// Signed sums and products wrap: they are computed as unsigned.
template <uint64_t (*function)(uint64_t, uint64_t)>
int64_t Wrapped(IntArgs x, const OpView&) {
  return static_cast<int64_t>(
      function(static_cast<uint64_t>(x[0]), static_cast<uint64_t>(x[1])));
}
uint64_t Plus(uint64_t a, uint64_t b) { return a + b; }
uint64_t Minus(uint64_t a, uint64_t b) { return a - b; }
uint64_t Times(uint64_t a, uint64_t b) { return a * b; }

constexpr ScalarFunction kAddFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return x[0] + x[1]; },
    .on_int = Wrapped<Plus>,
    .on_uint = [](UintArgs x, const OpView&) { return x[0] + x[1]; },
    .keeps_zero = true};
constexpr ScalarFunction kSubFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return x[0] - x[1]; },
    .on_int = Wrapped<Minus>,
    .on_uint = [](UintArgs x, const OpView&) { return x[0] - x[1]; },
    .keeps_zero = true};
constexpr ScalarFunction kMulFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return x[0] * x[1]; },
    .on_int = Wrapped<Times>,
    .on_uint = [](UintArgs x, const OpView&) { return x[0] * x[1]; },
    .keeps_zero = true};

// Rounds toward zero; division by 0 gives 0, and by -1 wraps.
int64_t Quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  return a / b;
}
constexpr ScalarFunction kDivFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return x[0] / x[1]; },
    .on_int = [](IntArgs x, const OpView&) { return Quotient(x[0], x[1]); },
    .on_uint = [](UintArgs x,
                  const OpView&) { return x[1] == 0 ? 0 : x[0] / x[1]; }};

// Has the sign of the dividend with fmod, otherwise that of the divisor.
double Remainder(double a, double b, bool fmod) {
  const double rest = std::fmod(a, b);
  if (fmod || rest == 0 || (rest < 0) == (b < 0)) return rest;
  return rest + b;
}
int64_t Remainder(int64_t a, int64_t b, bool fmod) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  if (fmod || rest == 0 || (rest < 0) == (b < 0)) return rest;
  return rest + b;
}
constexpr ScalarFunction kModFunction = {
    .on_double =
        [](DoubleArgs x, const OpView& op) {
          return Remainder(x[0], x[1], op.attr_bool("fmod"));
        },
    .on_int =
        [](IntArgs x, const OpView& op) {
          return Remainder(x[0], x[1], op.attr_bool("fmod"));
        },
    .on_uint = [](UintArgs x,
                  const OpView&) { return x[1] == 0 ? 0 : x[0] % x[1]; }};
std::vector<OpSample> ModSamples() {
  return {{{F32({4, 5}), F32({5})}, {{"fmod", true}}}};
}
constexpr OpDef ModOp(OpDef op) {
  op.attrs = {{BoolAttr("fmod", false)}};
  op.samples = ModSamples;
  return op;
}

uint64_t Power(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) power *= base;
  }
  return power;
}
// The integer part of 1 / base^n is 0 unless base is 1 or -1.
int64_t Power(int64_t base, int64_t exponent) {
  if (exponent >= 0) {
    return static_cast<int64_t>(
        Power(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
  }
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  return base == 1;
}
constexpr ScalarFunction kPowFunction = {
    .on_double = [](DoubleArgs x,
                    const OpView&) { return std::pow(x[0], x[1]); },
    .on_int = [](IntArgs x, const OpView&) { return Power(x[0], x[1]); },
    .on_uint = [](UintArgs x, const OpView&) { return Power(x[0], x[1]); }};

absl::Status InferPow(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kNumbers));
  PARTITA_ASSIGN_OR_RETURN(Shape dims, BroadcastOperands(op));
  return results.Set(0, {op.operand_type(0).dtype, dims, {}});
}
std::vector<OpSample> PowSamples() { return {{{F32({4, 5}), I32({5}, 0, 3)}}}; }
constexpr OpDef PowOp(OpDef op) {
  op.infer = InferPow;
  op.samples = PowSamples;
  return op;
}

// A NaN on either side is the result.
constexpr ScalarFunction kMinFunction = {
    .on_double =
        [](DoubleArgs x, const OpView&) {
          return x[0] < x[1] || std::isnan(x[0]) ? x[0] : x[1];
        },
    .on_int = [](IntArgs x, const OpView&) { return std::min(x[0], x[1]); },
    .on_uint = [](UintArgs x, const OpView&) { return std::min(x[0], x[1]); },
    .keeps_zero = true};
constexpr ScalarFunction kMaxFunction = {
    .on_double =
        [](DoubleArgs x, const OpView&) {
          return x[0] > x[1] || std::isnan(x[0]) ? x[0] : x[1];
        },
    .on_int = [](IntArgs x, const OpView&) { return std::max(x[0], x[1]); },
    .on_uint = [](UintArgs x, const OpView&) { return std::max(x[0], x[1]); },
    .keeps_zero = true};

constexpr ScalarFunction kPreluFunction = {
    .on_double = [](DoubleArgs x,
                    const OpView&) { return x[0] < 0 ? x[0] * x[1] : x[0]; },
    .on_int =
        [](IntArgs x, const OpView& op) {
          return x[0] < 0 ? Wrapped<Times>(x, op) : x[0];
        },
    .on_uint = [](UintArgs x, const OpView&) { return x[0]; },
    .keeps_zero = true};
constexpr OpDef PreluOp(OpDef op) {
  op.operands = {{{"x"}, {"slope"}}};
  return op;
}

constexpr ScalarFunction kWhereFunction = {
    .on_double = [](DoubleArgs x,
                    const OpView&) { return x[0] != 0 ? x[1] : x[2]; },
    .on_int = [](IntArgs x, const OpView&) { return x[0] != 0 ? x[1] : x[2]; },
    .on_uint = [](UintArgs x,
                  const OpView&) { return x[0] != 0 ? x[1] : x[2]; },
    .keeps_zero = true};
absl::Status InferWhere(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kBools));
  const DType dtype = op.operand_type(1).dtype;
  if (op.operand_type(2).dtype != dtype) {
    return BadOp(op, Describe(op, 2),
                 absl::StrCat(DTypeName(dtype), " like ", Describe(op, 1)),
                 "cast one of them");
  }
  PARTITA_ASSIGN_OR_RETURN(Shape dims, BroadcastOperands(op));
  return results.Set(0, {dtype, dims, {}});
}
std::vector<OpSample> WhereSamples() {
  return {
      {{Bool({4, 1}), F32({3, 1, 5}), F32({4, 5})}},
      {{Bool({5}), I32({3, 5}), I32({1})}},
  };
}
constexpr OpDef WhereOp(OpDef op) {
  op.operands = {{{"condition"}, {"x"}, {"y"}}};
  op.infer = InferWhere;
  op.samples = WhereSamples;
  return op;
}

Term SameGradient(const PointPair& p) { return p.dz; }
Term SubtrahendGradient(const PointPair& p) { return -p.dz; }
Term LeftFactorGradient(const PointPair& p) { return p.dz * p.b; }
Term RightFactorGradient(const PointPair& p) { return p.dz * p.a; }
Term DividendGradient(const PointPair& p) { return p.dz / p.b; }
Term DivisorGradient(const PointPair& p) { return -p.dz * p.z / p.b; }
// z = a - q b, where q is piecewise constant.
Term ModDivisorGradient(const PointPair& p) {
  return -p.dz * Round((p.a - p.z) / p.b);
}
// The derivative for exponent 0 is 0, not 0 times infinity.
Term BaseGradient(const PointPair& p) {
  const Term b = CastTo(p.b, p.a.type().dtype);
  return p.dz * Where(Equal(b, 0), 0, b * Pow(p.a, b - 1));
}
Term ExponentGradient(const PointPair& p) {
  return p.dz * Where(Equal(p.a, 0), 0, p.z * Log(p.a));
}
// Operands that are equal share the gradient evenly.
Term ShareOf(Term dz, Term beyond, Term reaches) {
  const DType dtype = dz.type().dtype;
  return dz * 0.5 * (CastTo(beyond, dtype) + CastTo(reaches, dtype));
}
template <bool left>
Term MaxGradient(const PointPair& p) {
  const Term a = left ? p.a : p.b;
  const Term b = left ? p.b : p.a;
  return ShareOf(p.dz, Greater(a, b), GreaterEqual(a, b));
}
template <bool left>
Term MinGradient(const PointPair& p) {
  const Term a = left ? p.a : p.b;
  const Term b = left ? p.b : p.a;
  return ShareOf(p.dz, Less(a, b), LessEqual(a, b));
}
Term PreluGradient(const PointPair& p) {
  return Where(Less(p.a, 0), p.dz * p.b, p.dz);
}
Term SlopeGradient(const PointPair& p) {
  return Where(Less(p.a, 0), p.dz * p.a, 0);
}
absl::Status WhereGradient(GradBuilder& b) {
  const Term condition = b.operand(0);
  if (b.needs(1)) b.Yield(1, Where(condition, b.grad(0), 0));
  if (b.needs(2)) b.Yield(2, Where(condition, 0, b.grad(0)));
  return b.status();
}

}  // namespace

// clang-format off
extern constinit const OpDef kAdd = Commutative(BinaryOp("add", "a + b.", &kAddFunction, Pairwise<SameGradient, SameGradient>));
extern constinit const OpDef kDiv = BinaryOp("div", "a / b; integers toward zero, and 0 where b is 0.", &kDivFunction, Pairwise<DividendGradient, DivisorGradient>);
extern constinit const OpDef kMax = Commutative(BinaryOp("max", "The greater; a NaN if either is one.", &kMaxFunction, Pairwise<MaxGradient<true>, MaxGradient<false>>));
extern constinit const OpDef kMin = Commutative(BinaryOp("min", "The lesser; a NaN if either is one.", &kMinFunction, Pairwise<MinGradient<true>, MinGradient<false>>));
extern constinit const OpDef kMod = ModOp(BinaryOp("mod", "The remainder of a / b, with the sign of b; with fmod, of a. 0 where an integer b is 0.", &kModFunction, Pairwise<SameGradient, ModDivisorGradient>));
extern constinit const OpDef kMul = Commutative(BinaryOp("mul", "a b.", &kMulFunction, Pairwise<LeftFactorGradient, RightFactorGradient>));
extern constinit const OpDef kPow = PowOp(Rounded(BinaryOp("pow", "a to the power of b, in the type of a.", &kPowFunction, Pairwise<BaseGradient, ExponentGradient>)));
extern constinit const OpDef kPrelu = PreluOp(BinaryOp("prelu", "x, or slope x below 0.", &kPreluFunction, Pairwise<PreluGradient, SlopeGradient>));
extern constinit const OpDef kSub = BinaryOp("sub", "a - b.", &kSubFunction, Pairwise<SameGradient, SubtrahendGradient>);
extern constinit const OpDef kWhere = WhereOp(BinaryOp("where", "x where the condition holds, else y.", &kWhereFunction, WhereGradient));
// clang-format on

}  // namespace partita
