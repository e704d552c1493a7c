// Activation functions: a table with one row for each op.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/op_list.h"
#include "graph/ops/pointwise_gradient.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// log(1 + e^x) without overflow.
double Softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double Gelu(double x, bool tanh) {
  // Not 1 + erf or 1 + tanh: for x far below 0 they lose all digits.
  if (!tanh) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  const double scale = std::sqrt(2 / std::numbers::pi);
  return x * Sigmoid(2 * scale * (x + 0.044715 * x * x * x));
}

// The derivative of gelu. Infinity times a density of 0 would be a NaN. Far
// below 0 the derivative approaches 0 from below.
double GeluSlope(double x) {
  if (std::isinf(x)) return x > 0 ? 1 : -0.0;
  const double density =
      std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  const double slope = 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
  return slope == 0 ? -0.0 : slope;
}

constexpr ScalarFunction kReluFunction = {
    .on_double = [](DoubleArgs x,
                    const OpView&) { return x[0] < 0 ? 0.0 : x[0]; },
    .on_int = [](IntArgs x, const OpView&) { return x[0] < 0 ? 0 : x[0]; },
    .on_uint = [](UintArgs x, const OpView&) { return x[0]; },
    .keeps_zero = true};

constexpr ScalarFunction kGeluFunction = {
    .on_double =
        [](DoubleArgs x, const OpView& op) {
          return Gelu(x[0], op.attr_bool("tanh"));
        },
    .keeps_zero = true};

// A NaN stays a NaN.
constexpr ScalarFunction kHardSigmoidFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) {
      const double y = op.attr_float("alpha") * x[0] + op.attr_float("beta");
      return y < 0 ? 0.0 : (y > 1 ? 1.0 : y);
    }};

constexpr ScalarFunction kHardSwishFunction = {
    .on_double =
        [](DoubleArgs x, const OpView&) {
          const double y = x[0] / 6 + 0.5;
          return x[0] * (y < 0 ? 0.0 : (y > 1 ? 1.0 : y));
        },
    .keeps_zero = true};

constexpr ScalarFunction kEluFunction = {
    .on_double =
        [](DoubleArgs x, const OpView& op) {
          return x[0] < 0 ? op.attr_float("alpha") * std::expm1(x[0]) : x[0];
        },
    .keeps_zero = true};

// At x = 0 an alpha of NaN gives NaN, as in ONNX.
constexpr ScalarFunction kSeluFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) {
      return op.attr_float("gamma") *
             (x[0] > 0 ? x[0] : op.attr_float("alpha") * std::expm1(x[0]));
    }};

constexpr ScalarFunction kLeakyReluFunction = {
    .on_double =
        [](DoubleArgs x, const OpView& op) {
          return x[0] < 0 ? op.attr_float("alpha") * x[0] : x[0];
        },
    .keeps_zero = true};

// max(0, x) + min(0, alpha (e^(x / alpha) - 1)); an alpha of NaN gives NaN
// above 0 too.
constexpr ScalarFunction kCeluFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) {
      const double alpha = op.attr_float("alpha");
      const double bend = alpha * std::expm1(x[0] / alpha);
      return x[0] < 0 || std::isnan(bend) ? bend : x[0];
    }};

// Here and in shrink a NaN fails all comparisons, which gives 0, as in ONNX.
constexpr ScalarFunction kThresholdedReluFunction = {
    .on_double =
        [](DoubleArgs x, const OpView& op) {
          return x[0] > op.attr_float("alpha") ? x[0] : 0.0;
        },
    .keeps_zero = true};

constexpr ScalarFunction kShrinkFunction = {
    .on_double = [](DoubleArgs x, const OpView& op) {
      const double lambda = op.attr_float("lambda");
      if (x[0] < -lambda) return x[0] + op.attr_float("bias");
      if (x[0] > lambda) return x[0] - op.attr_float("bias");
      return 0.0;
    }};

double Softsign(double x) { return x / (1 + std::fabs(x)); }
double Mish(double x) { return x * std::tanh(Softplus(x)); }
// x times 0 would be a NaN at minus infinity.
double Silu(double x) { return x == -kInfinity ? 0 : x * Sigmoid(x); }

// Formulas by y need only the result of the forward pass.
Term CeluGradient(const Point& p) {
  const double alpha = p.op.attr_float("alpha");
  return Where(Less(p.x, 0), p.dy * (p.y / alpha + 1), p.dy);
}
Term EluGradient(const Point& p) {
  return Where(Less(p.x, 0), p.dy * (p.y + p.op.attr_float("alpha")), p.dy);
}
Term TanhGeluSlope(Term x) {
  const double scale = 2 * std::sqrt(2 / std::numbers::pi);
  const Term square = x * x;
  const Term s = Sigmoid(scale * x * (0.044715 * square + 1));
  return s + x * s * (1 - s) * (scale * (3 * 0.044715 * square + 1));
}
Term GeluGradient(const Point& p) {
  if (p.op.attr_bool("tanh")) return p.dy * TanhGeluSlope(p.x);
  return p.dy * Apply(kGeluSlope, {p.x});
}
// The normal density times 2 - x^2.
Term GeluSlopeGradient(const Point& p) {
  const double density = 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2;
  const Term square = p.x * p.x;
  return p.dy * (2 - square) * (density * Exp(square * -0.5));
}
Term HardSigmoidGradient(const Point& p) {
  const Term slope = p.dy * p.op.attr_float("alpha");
  return Where(Greater(p.y, 0), Where(Less(p.y, 1), slope, 0), 0);
}
Term HardSwishGradient(const Point& p) {
  const Term inner = Where(Greater(p.x, -3), p.dy * (p.x / 3 + 0.5), 0);
  return Where(Less(p.x, 3), inner, p.dy);
}
Term LeakyReluGradient(const Point& p) {
  return Where(Less(p.x, 0), p.dy * p.op.attr_float("alpha"), p.dy);
}
Term MishGradient(const Point& p) {
  const Term t = Tanh(Softplus(p.x));
  return p.dy * (t + p.x * (1 - t * t) * Sigmoid(p.x));
}
Term ReluGradient(const Point& p) { return Where(Greater(p.y, 0), p.dy, 0); }
Term SeluGradient(const Point& p) {
  const double gamma = p.op.attr_float("gamma");
  const double alpha = p.op.attr_float("alpha");
  return p.dy * Where(Less(p.x, 0), p.y + gamma * alpha, gamma);
}
Term ShrinkGradient(const Point& p) {
  return Where(Greater(Abs(p.x), p.op.attr_float("lambda")), p.dy, 0);
}
Term SigmoidGradient(const Point& p) { return p.dy * p.y * (1 - p.y); }
Term SiluGradient(const Point& p) {
  const Term s = Sigmoid(p.x);
  return p.dy * s * (1 + p.x * (1 - s));
}
Term SoftplusGradient(const Point& p) { return p.dy * Sigmoid(p.x); }
Term SoftsignGradient(const Point& p) {
  const Term scale = 1 + Abs(p.x);
  return p.dy / (scale * scale);
}
Term ThresholdedReluGradient(const Point& p) {
  return Where(Greater(p.x, p.op.attr_float("alpha")), p.dy, 0);
}

std::vector<OpSample> GeluSamples() {
  return {{{F32({4, 5})}, {{"tanh", true}}}};
}

}  // namespace

// clang-format off
extern constinit const OpDef kCelu = With(FloatOp("celu", "x, or alpha (e^(x / alpha) - 1) below 0.", &kCeluFunction, Pointwise<CeluGradient>), FloatAttr("alpha", 1));
extern constinit const OpDef kElu = With(FloatOp("elu", "x, or alpha (e^x - 1) below 0.", &kEluFunction, Pointwise<EluGradient>), FloatAttr("alpha", 1));
extern constinit const OpDef kGelu = Sampled(With(FloatOp("gelu", "x times the normal distribution's integral up to x; with tanh, its approximation by tanh.", &kGeluFunction, Pointwise<GeluGradient>), BoolAttr("tanh", false)), GeluSamples);
extern constinit const OpDef kGeluSlope = FloatOp("gelu_slope", "The derivative of gelu: the normal distribution's integral up to x plus x times its density.", &kFloatFunction<GeluSlope, false>, Pointwise<GeluSlopeGradient>);
extern constinit const OpDef kHardSigmoid = With(FloatOp("hard_sigmoid", "alpha x + beta, clamped to 0..1.", &kHardSigmoidFunction, Pointwise<HardSigmoidGradient>), FloatAttr("alpha", 0.2), FloatAttr("beta", 0.5));
extern constinit const OpDef kHardSwish = FloatOp("hard_swish", "x times (x / 6 + 1/2), where that factor is clamped to 0..1.", &kHardSwishFunction, Pointwise<HardSwishGradient>);
extern constinit const OpDef kLeakyRelu = With(FloatOp("leaky_relu", "x, or alpha x below 0.", &kLeakyReluFunction, Pointwise<LeakyReluGradient>), FloatAttr("alpha", 0.01));
extern constinit const OpDef kMish = FloatOp("mish", "x tanh(softplus(x)).", &kFloatFunction<Mish, true>, Pointwise<MishGradient>);
extern constinit const OpDef kRelu = NumberOp("relu", "x, or 0 below 0.", &kReluFunction, Pointwise<ReluGradient>);
extern constinit const OpDef kSelu = With(FloatOp("selu", "gamma times x, or gamma alpha (e^x - 1) below 0.", &kSeluFunction, Pointwise<SeluGradient>), FloatAttr("alpha", 1.67326319217681884765625), FloatAttr("gamma", 1.05070102214813232421875));
extern constinit const OpDef kShrink = With(FloatOp("shrink", "0 from -lambda to lambda; beyond, x moved toward 0 by bias.", &kShrinkFunction, Pointwise<ShrinkGradient>), FloatAttr("bias", 0), FloatAttr("lambda", 0.5));
extern constinit const OpDef kSigmoid = FloatOp("sigmoid", "1 / (1 + e^-x).", &kFloatFunction<Sigmoid, false>, Pointwise<SigmoidGradient>);
extern constinit const OpDef kSilu = FloatOp("silu", "x sigmoid(x).", &kFloatFunction<Silu, true>, Pointwise<SiluGradient>);
extern constinit const OpDef kSoftplus = FloatOp("softplus", "log(1 + e^x).", &kFloatFunction<Softplus, false>, Pointwise<SoftplusGradient>);
extern constinit const OpDef kSoftsign = FloatOp("softsign", "x / (1 + |x|).", &kFloatFunction<Softsign, true>, Pointwise<SoftsignGradient>);
extern constinit const OpDef kThresholdedRelu = With(FloatOp("thresholded_relu", "x above alpha, else 0.", &kThresholdedReluFunction, Pointwise<ThresholdedReluGradient>), FloatAttr("alpha", 1));
// clang-format on

}  // namespace partita
