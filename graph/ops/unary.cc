// Scalar functions of one operand: a table, one row an op.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <numbers>

#include "graph/ops/arithmetic.h"
#include "graph/ops/elementwise.h"

namespace partita {
namespace {

using Doubles = absl::Span<const double>;
using Ints = absl::Span<const int64_t>;
using Uints = absl::Span<const uint64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row for floats only.
constexpr OpDef FloatOp(const char* name, const char* doc,
                        const ScalarFunction* function,
                        Tolerance tolerance = Tolerance::kRounding) {
  OpDef op = ElementwiseOp(name, doc, function);
  op.infer = InferScalar<kFloats>;
  op.tolerance = tolerance;
  return op;
}

// A row for all numbers, the same bits everywhere.
constexpr OpDef NumberOp(const char* name, const char* doc,
                         const ScalarFunction* function) {
  OpDef op = ElementwiseOp(name, doc, function);
  op.infer = InferScalar<kNumbers>;
  return op;
}

// A row that tests floats.
constexpr OpDef TestOp(const char* name, const char* doc,
                       const ScalarFunction* function) {
  OpDef op = ElementwiseOp(name, doc, function);
  op.infer = InferScalar<kFloats, /*is_test=*/true>;
  return op;
}

// A row with float attributes.
constexpr OpDef With(OpDef op, AttrDef first, AttrDef second = {}) {
  op.attrs = {{first, second}};
  return op;
}

// log(1 + e^x) without overflow.
double Softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double Gelu(double x, bool tanh) {
  // Not 1 + erf or 1 + tanh: they have no digits left where x is far below 0.
  if (!tanh) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  const double scale = std::sqrt(2 / std::numbers::pi);
  return x * Sigmoid(2 * scale * (x + 0.044715 * x * x * x));
}

// Wraps where a plain minus would be undefined.
int64_t Negated(int64_t x) {
  return static_cast<int64_t>(-static_cast<uint64_t>(x));
}

template <double (*function)(double), bool keeps_zero>
constexpr ScalarFunction kFloatFunction = {
    .on_double = [](Doubles x, const OpView&) { return function(x[0]); },
    .keeps_zero = keeps_zero};

constexpr ScalarFunction kNegFunction = {
    .on_double = [](Doubles x, const OpView&) { return -x[0]; },
    .on_int = [](Ints x, const OpView&) { return Negated(x[0]); },
    .on_uint = [](Uints x, const OpView&) { return -x[0]; },
    .keeps_zero = true};

constexpr ScalarFunction kAbsFunction = {
    .on_double = [](Doubles x, const OpView&) { return std::fabs(x[0]); },
    .on_int = [](Ints x,
                 const OpView&) { return x[0] < 0 ? Negated(x[0]) : x[0]; },
    .on_uint = [](Uints x, const OpView&) { return x[0]; },
    .keeps_zero = true};

// A NaN is neither positive nor negative: it stays.
constexpr ScalarFunction kSignFunction = {
    .on_double =
        [](Doubles x, const OpView&) {
          return x[0] > 0 ? 1.0 : (x[0] < 0 ? -1.0 : x[0]);
        },
    .on_int = [](Ints x, const OpView&) -> int64_t {
      return (x[0] > 0) - (x[0] < 0);
    },
    .on_uint = [](Uints x, const OpView&) -> uint64_t { return x[0] > 0; },
    .keeps_zero = true};

constexpr ScalarFunction kReluFunction = {
    .on_double = [](Doubles x, const OpView&) { return x[0] < 0 ? 0.0 : x[0]; },
    .on_int = [](Ints x, const OpView&) { return x[0] < 0 ? 0 : x[0]; },
    .on_uint = [](Uints x, const OpView&) { return x[0]; },
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
    .on_double = [](Doubles x, const OpView& op) { return Clip(x[0], op); },
    .on_int = [](Ints x, const OpView& op) { return Clip(x[0], op); },
    .on_uint = [](Uints x, const OpView& op) { return Clip(x[0], op); }};

constexpr ScalarFunction kNotFunction = {
    .on_uint = [](Uints x, const OpView&) -> uint64_t { return x[0] == 0; }};

constexpr ScalarFunction kBitwiseNotFunction = {
    .on_int = [](Ints x, const OpView&) { return ~x[0]; },
    .on_uint = [](Uints x, const OpView&) { return ~x[0]; }};

constexpr ScalarFunction kIsNanFunction = {
    .on_double = [](Doubles x, const OpView&) -> double {
      return std::isnan(x[0]);
    },
    .keeps_zero = true};

constexpr ScalarFunction kIsInfFunction = {
    .on_double = [](Doubles x, const OpView& op) -> double {
      return (x[0] == kInfinity && op.attr_bool("positive")) ||
             (x[0] == -kInfinity && op.attr_bool("negative"));
    },
    .keeps_zero = true};

constexpr ScalarFunction kGeluFunction = {.on_double =
                                              [](Doubles x, const OpView& op) {
                                                return Gelu(
                                                    x[0], op.attr_bool("tanh"));
                                              },
                                          .keeps_zero = true};

// A NaN must not become a bound.
constexpr ScalarFunction kHardSigmoidFunction = {
    .on_double = [](Doubles x, const OpView& op) {
      const double y = op.attr_float("alpha") * x[0] + op.attr_float("beta");
      return y < 0 ? 0.0 : (y > 1 ? 1.0 : y);
    }};

constexpr ScalarFunction kHardSwishFunction = {
    .on_double =
        [](Doubles x, const OpView&) {
          const double y = x[0] / 6 + 0.5;
          return x[0] * (y < 0 ? 0.0 : (y > 1 ? 1.0 : y));
        },
    .keeps_zero = true};

constexpr ScalarFunction kEluFunction = {
    .on_double =
        [](Doubles x, const OpView& op) {
          return x[0] < 0 ? op.attr_float("alpha") * std::expm1(x[0]) : x[0];
        },
    .keeps_zero = true};

constexpr ScalarFunction kSeluFunction = {
    .on_double =
        [](Doubles x, const OpView& op) {
          return op.attr_float("gamma") *
                 (x[0] < 0 ? op.attr_float("alpha") * std::expm1(x[0]) : x[0]);
        },
    .keeps_zero = true};

constexpr ScalarFunction kLeakyReluFunction = {
    .on_double =
        [](Doubles x, const OpView& op) {
          return x[0] < 0 ? op.attr_float("alpha") * x[0] : x[0];
        },
    .keeps_zero = true};

constexpr ScalarFunction kCeluFunction = {
    .on_double =
        [](Doubles x, const OpView& op) {
          const double alpha = op.attr_float("alpha");
          return x[0] < 0 ? alpha * std::expm1(x[0] / alpha) : x[0];
        },
    .keeps_zero = true};

constexpr ScalarFunction kThresholdedReluFunction = {
    .on_double =
        [](Doubles x, const OpView& op) {
          return x[0] <= op.attr_float("alpha") ? 0.0 : x[0];
        },
    .keeps_zero = true};

constexpr ScalarFunction kShrinkFunction = {
    .on_double = [](Doubles x, const OpView& op) {
      const double lambda = op.attr_float("lambda");
      if (x[0] < -lambda) return x[0] + op.attr_float("bias");
      if (x[0] > lambda) return x[0] - op.attr_float("bias");
      return std::isnan(x[0]) ? x[0] : 0.0;
    }};

absl::Status InferCast(const OpView& op, Types& results) {
  return results.Set(0, {op.attr_dtype("to"), op.operand_type(0).dims, {}});
}
constexpr ScalarFunction kCastFunction = {
    .on_double = [](Doubles x, const OpView&) { return x[0]; },
    .on_int = [](Ints x, const OpView&) { return x[0]; },
    .on_uint = [](Uints x, const OpView&) { return x[0]; },
    .keeps_zero = true};
constexpr OpDef CastOp(OpDef op) {
  op.attrs = {{RequiredAttr("to", AttributeKind::kDType)}};
  op.infer = InferCast;
  return op;
}

constexpr OpDef NotOp(OpDef op) {
  op.infer = InferScalar<kBools>;
  return op;
}
constexpr OpDef BitwiseNotOp(OpDef op) {
  op.infer = InferScalar<kIntegers>;
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
double Softsign(double x) { return x / (1 + std::fabs(x)); }
double Mish(double x) { return x * std::tanh(Softplus(x)); }
// x times 0 would be a NaN at minus infinity.
double Silu(double x) { return x == -kInfinity ? 0 : x * Sigmoid(x); }

}  // namespace

// clang-format off
extern constinit const OpDef kAbs = NumberOp("abs", "The magnitude; the least integer wraps to itself.", &kAbsFunction);
extern constinit const OpDef kAcos = FloatOp("acos", "The arc cosine.", &kFloatFunction<Acos, false>);
extern constinit const OpDef kAcosh = FloatOp("acosh", "The inverse hyperbolic cosine.", &kFloatFunction<Acosh, false>);
extern constinit const OpDef kAsin = FloatOp("asin", "The arc sine.", &kFloatFunction<Asin, true>);
extern constinit const OpDef kAsinh = FloatOp("asinh", "The inverse hyperbolic sine.", &kFloatFunction<Asinh, true>);
extern constinit const OpDef kAtan = FloatOp("atan", "The arc tangent.", &kFloatFunction<Atan, true>);
extern constinit const OpDef kAtanh = FloatOp("atanh", "The inverse hyperbolic tangent.", &kFloatFunction<Atanh, true>);
extern constinit const OpDef kBitwiseNot = BitwiseNotOp(ElementwiseOp("bitwise_not", "Every bit inverted.", &kBitwiseNotFunction));
extern constinit const OpDef kCast = CastOp(ElementwiseOp("cast", "The same number in another type: floats rounded once, or truncated toward zero and clamped; integers wrapped; anything but zero is true.", &kCastFunction));
extern constinit const OpDef kCeil = FloatOp("ceil", "The least integer that is not below x.", &kFloatFunction<Ceil, true>, Tolerance::kExact);
extern constinit const OpDef kCelu = With(FloatOp("celu", "x, or alpha (e^(x / alpha) - 1) below 0.", &kCeluFunction), FloatAttr("alpha", 1));
extern constinit const OpDef kClip = With(NumberOp("clip", "x, held between min and max.", &kClipFunction), FloatAttr("min", -kInfinity), FloatAttr("max", kInfinity));
extern constinit const OpDef kCos = FloatOp("cos", "The cosine.", &kFloatFunction<Cos, false>);
extern constinit const OpDef kCosh = FloatOp("cosh", "The hyperbolic cosine.", &kFloatFunction<Cosh, false>);
extern constinit const OpDef kElu = With(FloatOp("elu", "x, or alpha (e^x - 1) below 0.", &kEluFunction), FloatAttr("alpha", 1));
extern constinit const OpDef kErf = FloatOp("erf", "The error function.", &kFloatFunction<Erf, true>);
extern constinit const OpDef kExp = FloatOp("exp", "e to the power of x.", &kFloatFunction<Exp, false>);
extern constinit const OpDef kFloor = FloatOp("floor", "The greatest integer that is not above x.", &kFloatFunction<Floor, true>, Tolerance::kExact);
extern constinit const OpDef kGelu = With(FloatOp("gelu", "x times the normal distribution's integral up to x; with tanh, its approximation by tanh.", &kGeluFunction), BoolAttr("tanh", false));
extern constinit const OpDef kHardSigmoid = With(FloatOp("hard_sigmoid", "alpha x + beta, held between 0 and 1.", &kHardSigmoidFunction), FloatAttr("alpha", 0.2), FloatAttr("beta", 0.5));
extern constinit const OpDef kHardSwish = FloatOp("hard_swish", "x times x / 6 + 1/2, that held between 0 and 1.", &kHardSwishFunction);
extern constinit const OpDef kIsInf = With(TestOp("is_inf", "Whether x is an infinity of a sign that is asked for.", &kIsInfFunction), BoolAttr("positive", true), BoolAttr("negative", true));
extern constinit const OpDef kIsNan = TestOp("is_nan", "Whether x is not a number.", &kIsNanFunction);
extern constinit const OpDef kLeakyRelu = With(FloatOp("leaky_relu", "x, or alpha x below 0.", &kLeakyReluFunction), FloatAttr("alpha", 0.01));
extern constinit const OpDef kLog = FloatOp("log", "The natural logarithm.", &kFloatFunction<Log, false>);
extern constinit const OpDef kMish = FloatOp("mish", "x tanh(softplus(x)).", &kFloatFunction<Mish, true>);
extern constinit const OpDef kNeg = NumberOp("neg", "Minus x; integers wrap.", &kNegFunction);
extern constinit const OpDef kNot = NotOp(ElementwiseOp("not", "Whether x is false.", &kNotFunction));
extern constinit const OpDef kReciprocal = FloatOp("reciprocal", "One divided by x.", &kFloatFunction<Reciprocal, false>);
extern constinit const OpDef kRelu = NumberOp("relu", "x, or 0 below 0.", &kReluFunction);
extern constinit const OpDef kRound = FloatOp("round", "The nearest integer, the even one of two.", &kFloatFunction<RoundToEven, true>, Tolerance::kExact);
extern constinit const OpDef kSelu = With(FloatOp("selu", "gamma times x, or gamma alpha (e^x - 1) below 0.", &kSeluFunction), FloatAttr("alpha", 1.67326319217681884765625), FloatAttr("gamma", 1.05070102214813232421875));
extern constinit const OpDef kShrink = With(FloatOp("shrink", "0 from -lambda to lambda; beyond, x moved toward 0 by bias.", &kShrinkFunction), FloatAttr("bias", 0), FloatAttr("lambda", 0.5));
extern constinit const OpDef kSigmoid = FloatOp("sigmoid", "1 / (1 + e^-x).", &kFloatFunction<Sigmoid, false>);
extern constinit const OpDef kSign = NumberOp("sign", "-1, 0 or 1; a NaN stays.", &kSignFunction);
extern constinit const OpDef kSilu = FloatOp("silu", "x sigmoid(x).", &kFloatFunction<Silu, true>);
extern constinit const OpDef kSin = FloatOp("sin", "The sine.", &kFloatFunction<Sin, true>);
extern constinit const OpDef kSinh = FloatOp("sinh", "The hyperbolic sine.", &kFloatFunction<Sinh, true>);
extern constinit const OpDef kSoftplus = FloatOp("softplus", "log(1 + e^x).", &kFloatFunction<Softplus, false>);
extern constinit const OpDef kSoftsign = FloatOp("softsign", "x / (1 + |x|).", &kFloatFunction<Softsign, true>);
extern constinit const OpDef kSqrt = FloatOp("sqrt", "The square root.", &kFloatFunction<Sqrt, true>);
extern constinit const OpDef kTan = FloatOp("tan", "The tangent.", &kFloatFunction<Tan, true>);
extern constinit const OpDef kTanh = FloatOp("tanh", "The hyperbolic tangent.", &kFloatFunction<Tanh, true>);
extern constinit const OpDef kThresholdedRelu = With(FloatOp("thresholded_relu", "x above alpha, else 0.", &kThresholdedReluFunction), FloatAttr("alpha", 1));
// clang-format on

}  // namespace partita
