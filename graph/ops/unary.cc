// Elementwise functions of one operand, except activations (activation.cc): a
// table with one row for each op.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/pointwise_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row that tests floats.
constexpr OpDef TestOp(const char* name, const char* doc,
                       const ScalarFunction* function) {
  OpDef op = ElementwiseOp(name, doc, function);
  op.infer = InferScalar<kFloats, /*is_test=*/true>;
  op.no_gradient = "the result is a bool";
  return op;
}

// Wraps where a plain minus would be undefined.
int64_t Negated(int64_t x) {
  return static_cast<int64_t>(-static_cast<uint64_t>(x));
}

constexpr ScalarFunction kNegFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return -x[0]; },
    .on_int = [](IntArgs x, const OpView&) { return Negated(x[0]); },
    .on_uint = [](UintArgs x, const OpView&) { return -x[0]; },
    .keeps_zero = true};

constexpr ScalarFunction kAbsFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return std::fabs(x[0]); },
    .on_int = [](IntArgs x,
                 const OpView&) { return x[0] < 0 ? Negated(x[0]) : x[0]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0]; },
    .keeps_zero = true};

// A NaN stays a NaN. A zero loses its sign.
constexpr ScalarFunction kSignFunction = {
    .on_double =
        [](DoubleArgs x, const OpView&) {
          return x[0] > 0 ? 1.0 : (x[0] < 0 ? -1.0 : x[0] + 0.0);
        },
    .on_int = [](IntArgs x, const OpView&) -> int64_t {
      return (x[0] > 0) - (x[0] < 0);
    },
    .on_uint = [](UintArgs x, const OpView&) -> uint64_t { return x[0] > 0; },
    .keeps_zero = true};

template <typename T>
T Clip(T x, const OpView& op) {
  const double min = op.attr_float("min");
  const double max = op.attr_float("max");
  if (static_cast<double>(x) < min) x = Narrow<T>(min);
  if (static_cast<double>(x) > max) x = Narrow<T>(max);
  return x;
}
constexpr ScalarFunction kClipFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) { return Clip(x[0], op); },
    .on_int = [](IntArgs x, const OpView& op) { return Clip(x[0], op); },
    .on_uint = [](UintArgs x, const OpView& op) { return Clip(x[0], op); }};

constexpr ScalarFunction kNotFunction = {
    .on_uint = [](UintArgs x, const OpView&) -> uint64_t { return x[0] == 0; }};

constexpr ScalarFunction kBitwiseNotFunction = {
    .on_int = [](IntArgs x, const OpView&) { return ~x[0]; },
    .on_uint = [](UintArgs x, const OpView&) { return ~x[0]; }};

constexpr ScalarFunction kIsNanFunction = {
    .on_double = [](DoubleArgs x, const OpView&) -> double {
      return std::isnan(x[0]);
    },
    .keeps_zero = true};

constexpr ScalarFunction kIsInfFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) -> double {
      return (x[0] == kInfinity && op.attr_bool("positive")) ||
             (x[0] == -kInfinity && op.attr_bool("negative"));
    },
    .keeps_zero = true};

absl::Status InferCast(const OpView& op, Types& results) {
  return results.Set(0, {op.attr_dtype("to"), op.operand_type(0).dims, {}});
}
constexpr ScalarFunction kSameFunction = {
    .on_double = [](DoubleArgs x, const OpView&) { return x[0]; },
    .on_int = [](IntArgs x, const OpView&) { return x[0]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0]; },
    .keeps_zero = true};
std::vector<OpSample> CastSamples() {
  return {
      {{F32({4, 5})}, {{"to", DType::kI8}}},
      {{I32({4, 5})}, {{"to", DType::kF16}}},
      {{F32({4, 5})}, {{"to", DType::kBool}}},
      {{F32({4, 5})}, {{"to", DType::kF64}}},
  };
}
constexpr OpDef CastOp(OpDef op) {
  op.attrs = {{RequiredAttr("to", AttributeKind::kDType)}};
  op.infer = InferCast;
  op.samples = CastSamples;
  return op;
}

constexpr OpDef NotOp(OpDef op) {
  op.infer = InferScalar<kBools>;
  op.no_gradient = kTakesNoFloats;
  return op;
}
constexpr OpDef BitwiseNotOp(OpDef op) {
  op.infer = InferScalar<kIntegers>;
  op.no_gradient = kTakesNoFloats;
  return op;
}

double Sqrt(double x) { return std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Tanh(double x) { return std::tanh(x); }
double Asinh(double x) { return std::asinh(x); }
double Acosh(double x) { return std::acosh(x); }
double Atanh(double x) { return std::atanh(x); }
double Erf(double x) { return std::erf(x); }
double Floor(double x) { return std::floor(x); }
double Ceil(double x) { return std::ceil(x); }
double RoundToEven(double x) { return std::nearbyint(x); }
double Reciprocal(double x) { return 1 / x; }

Term AbsGradient(const Point& p) { return p.dy * Sign(p.x); }
Term AcosGradient(const Point& p) { return -p.dy / Sqrt(1 - p.x * p.x); }
Term AcoshGradient(const Point& p) { return p.dy / Sqrt(p.x * p.x - 1); }
Term AsinGradient(const Point& p) { return p.dy / Sqrt(1 - p.x * p.x); }
Term AsinhGradient(const Point& p) { return p.dy / Sqrt(p.x * p.x + 1); }
Term AtanGradient(const Point& p) { return p.dy / (1 + p.x * p.x); }
Term AtanhGradient(const Point& p) { return p.dy / (1 - p.x * p.x); }
// The gradient also passes at the bounds.
Term ClipGradient(const Point& p) { return Where(Equal(p.x, p.y), p.dy, 0); }
Term CosGradient(const Point& p) { return -p.dy * Sin(p.x); }
Term CoshGradient(const Point& p) { return p.dy * Sinh(p.x); }
Term ErfGradient(const Point& p) {
  return p.dy * (2 * std::numbers::inv_sqrtpi) * Exp(-p.x * p.x);
}
Term ExpGradient(const Point& p) { return p.dy * p.y; }
Term LogGradient(const Point& p) { return p.dy / p.x; }
Term NegGradient(const Point& p) { return -p.dy; }
Term ReciprocalGradient(const Point& p) { return -p.dy * p.y * p.y; }
Term SinGradient(const Point& p) { return p.dy * Cos(p.x); }
Term SinhGradient(const Point& p) { return p.dy * Cosh(p.x); }
Term SqrtGradient(const Point& p) { return p.dy * 0.5 / p.y; }
Term TanGradient(const Point& p) { return p.dy * (1 + p.y * p.y); }
Term TanhGradient(const Point& p) { return p.dy * (1 - p.y * p.y); }

std::vector<OpSample> ClipSamples() {
  return {{{F32({4, 5})}, {{"min", -1.0}, {"max", 0.5}}}};
}

}  // namespace

// clang-format off
extern constinit const OpDef kAbs = NumberOp("abs", "The magnitude; the least integer wraps to itself.", &kAbsFunction, Pointwise<AbsGradient>);
extern constinit const OpDef kAcos = FloatOp("acos", "The arc cosine.", &kFloatFunction<Acos, false>, Pointwise<AcosGradient>);
extern constinit const OpDef kAcosh = FloatOp("acosh", "The inverse hyperbolic cosine.", &kFloatFunction<Acosh, false>, Pointwise<AcoshGradient>);
extern constinit const OpDef kAsin = FloatOp("asin", "The arc sine.", &kFloatFunction<Asin, true>, Pointwise<AsinGradient>);
extern constinit const OpDef kAsinh = FloatOp("asinh", "The inverse hyperbolic sine.", &kFloatFunction<Asinh, true>, Pointwise<AsinhGradient>);
extern constinit const OpDef kAtan = FloatOp("atan", "The arc tangent.", &kFloatFunction<Atan, true>, Pointwise<AtanGradient>);
extern constinit const OpDef kAtanh = FloatOp("atanh", "The inverse hyperbolic tangent.", &kFloatFunction<Atanh, true>, Pointwise<AtanhGradient>);
extern constinit const OpDef kBitwiseNot = BitwiseNotOp(ElementwiseOp("bitwise_not", "Every bit inverted.", &kBitwiseNotFunction));
extern constinit const OpDef kCast = CastOp(ElementwiseOp("cast", "The same number in another type: floats rounded once, or truncated toward zero and clamped; integers wrapped; anything but zero is true.", &kSameFunction, PassGradient));
extern constinit const OpDef kCeil = FloatOp("ceil", "The least integer that is not below x.", &kFloatFunction<Ceil, true>, ZeroGradient, Tolerance::kExact);
extern constinit const OpDef kClip = Sampled(With(NumberOp("clip", "x, clamped to min..max.", &kClipFunction, Pointwise<ClipGradient>), FloatAttr("min", -kInfinity), FloatAttr("max", kInfinity)), ClipSamples);
extern constinit const OpDef kCos = FloatOp("cos", "The cosine.", &kFloatFunction<Cos, false>, Pointwise<CosGradient>);
extern constinit const OpDef kCosh = FloatOp("cosh", "The hyperbolic cosine.", &kFloatFunction<Cosh, false>, Pointwise<CoshGradient>);
extern constinit const OpDef kErf = FloatOp("erf", "The error function.", &kFloatFunction<Erf, true>, Pointwise<ErfGradient>);
extern constinit const OpDef kExp = FloatOp("exp", "e to the power of x.", &kFloatFunction<Exp, false>, Pointwise<ExpGradient>);
extern constinit const OpDef kFloor = FloatOp("floor", "The greatest integer that is not above x.", &kFloatFunction<Floor, true>, ZeroGradient, Tolerance::kExact);
extern constinit const OpDef kIsInf = With(TestOp("is_inf", "Whether x is an infinity of a requested sign.", &kIsInfFunction), BoolAttr("positive", true), BoolAttr("negative", true));
extern constinit const OpDef kIsNan = TestOp("is_nan", "Whether x is not a number.", &kIsNanFunction);
extern constinit const OpDef kLog = FloatOp("log", "The natural logarithm.", &kFloatFunction<Log, false>, Pointwise<LogGradient>);
extern constinit const OpDef kNeg = NumberOp("neg", "Minus x; integers wrap.", &kNegFunction, Pointwise<NegGradient>);
extern constinit const OpDef kNot = NotOp(ElementwiseOp("not", "Whether x is false.", &kNotFunction));
extern constinit const OpDef kReciprocal = FloatOp("reciprocal", "One divided by x.", &kFloatFunction<Reciprocal, false>, Pointwise<ReciprocalGradient>);
extern constinit const OpDef kRound = FloatOp("round", "The nearest integer; a tie goes to the even one.", &kFloatFunction<RoundToEven, true>, ZeroGradient, Tolerance::kExact);
extern constinit const OpDef kSign = NumberOp("sign", "-1, 0 or 1; 0 for -0; a NaN stays.", &kSignFunction, ZeroGradient);
extern constinit const OpDef kSin = FloatOp("sin", "The sine.", &kFloatFunction<Sin, true>, Pointwise<SinGradient>);
extern constinit const OpDef kSinh = FloatOp("sinh", "The hyperbolic sine.", &kFloatFunction<Sinh, true>, Pointwise<SinhGradient>);
extern constinit const OpDef kSqrt = FloatOp("sqrt", "The square root.", &kFloatFunction<Sqrt, true>, Pointwise<SqrtGradient>);
extern constinit const OpDef kStopGradient = NoGradient(NumberOp("stop_gradient", "x, through which no gradient flows.", &kSameFunction, ZeroGradient), "zero by definition");
extern constinit const OpDef kTan = FloatOp("tan", "The tangent.", &kFloatFunction<Tan, true>, Pointwise<TanGradient>);
extern constinit const OpDef kTanh = FloatOp("tanh", "The hyperbolic tangent.", &kFloatFunction<Tanh, true>, Pointwise<TanhGradient>);
// clang-format on

}  // namespace partita
