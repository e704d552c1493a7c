// Exports scalar functions, casts and selections.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <numbers>

#include "graph/onnx/export/node_export.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

absl::Status Mod(NodeExport& node) {
  if (IsFloat(node.dtype(0)) && !node.op().attr_bool("fmod")) {
    return node.Unsupported("floats with the sign of the divisor",
                            "fmod = true, or integers");
  }
  return ExportAlike(node);
}

absl::Status BitShift(NodeExport& node) {
  node.Give(node.operands())
      .String("direction", node.op().attr_bool("left") ? "LEFT" : "RIGHT");
  return absl::OkStatus();
}

absl::Status Clip(NodeExport& node) {
  NodeExport::Names inputs = node.operands();
  const auto add_bound = [&](const char* name, double unbounded) {
    const double bound = node.op().attr_float(name);
    inputs.push_back(bound == unbounded
                         ? ""
                         : node.Scalar(name, node.dtype(0), Number(bound)));
  };
  add_bound("min", -HUGE_VAL);
  add_bound("max", HUGE_VAL);
  while (inputs.back().empty()) inputs.pop_back();
  node.Give(inputs);
  return absl::OkStatus();
}

absl::Status Cast(NodeExport& node) {
  node.Give(node.operands()).Int("to", OnnxOfDType(node.op().attr_dtype("to")));
  return absl::OkStatus();
}

absl::Status NotEqual(NodeExport& node) {
  const OnnxNode equal = node.Step("Equal", node.operands(), DType::kBool);
  node.Give("Not", {equal.output()});
  return absl::OkStatus();
}

// The following ops are newer than the opset and are expanded.

absl::Status Silu(NodeExport& node) {
  const std::string& x = node.operand(0);
  node.Give("Mul", {x, node.Step("Sigmoid", {x}).output()});
  return absl::OkStatus();
}

absl::Status Mish(NodeExport& node) {
  const std::string& x = node.operand(0);
  const OnnxNode softplus = node.Step("Softplus", {x});
  const OnnxNode tanh = node.Step("Tanh", {softplus.output()});
  node.Give("Mul", {x, tanh.output()});
  return absl::OkStatus();
}

// erf(x / sqrt(2)), in the form that runtimes fuse again.
std::string ErfOfGelu(NodeExport& node) {
  const std::string root =
      node.Scalar("sqrt2", node.dtype(0), Number(std::numbers::sqrt2));
  const OnnxNode scaled = node.Step("Div", {node.operand(0), root});
  return node.Step("Erf", {scaled.output()}).output();
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3))
std::string TanhOfGelu(NodeExport& node) {
  const std::string& x = node.operand(0);
  const auto scalar = [&](const char* what, double value) {
    return node.Scalar(what, node.dtype(0), Number(value));
  };
  const OnnxNode cube = node.Step("Pow", {x, scalar("three", 3)});
  const OnnxNode bent =
      node.Step("Mul", {cube.output(), scalar("bend", 0.044715)});
  const OnnxNode sum = node.Step("Add", {x, bent.output()});
  const OnnxNode scaled = node.Step(
      "Mul", {sum.output(),
              scalar("rate", std::sqrt(2.0) * std::numbers::inv_sqrtpi)});
  return node.Step("Tanh", {scaled.output()}).output();
}

// x / 2 (1 + the integral)
absl::Status Gelu(NodeExport& node) {
  const DType dtype = node.dtype(0);
  const std::string integral =
      node.op().attr_bool("tanh") ? TanhOfGelu(node) : ErfOfGelu(node);
  const OnnxNode sum =
      node.Step("Add", {integral, node.Scalar("one", dtype, Number(1.0))});
  const OnnxNode product = node.Step("Mul", {node.operand(0), sum.output()});
  node.Give("Mul", {product.output(), node.Scalar("half", dtype, Number(0.5))});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kAbs, "Abs"},
    {&kAcos, "Acos"},
    {&kAcosh, "Acosh"},
    {&kAdd, "Add"},
    {&kAnd, "And"},
    {&kAsin, "Asin"},
    {&kAsinh, "Asinh"},
    {&kAtan, "Atan"},
    {&kAtanh, "Atanh"},
    {&kBitShift, "BitShift", BitShift},
    {&kCast, "Cast", Cast},
    {&kCeil, "Ceil"},
    {&kCelu, "Celu", ExportAlike, {{"alpha"}}},
    {&kClip, "Clip", Clip},
    {&kCos, "Cos"},
    {&kCosh, "Cosh"},
    {&kDiv, "Div"},
    {&kElu, "Elu", ExportAlike, {{"alpha"}}},
    {&kEqual, "Equal"},
    {&kErf, "Erf"},
    {&kExp, "Exp"},
    {&kFloor, "Floor"},
    {&kGelu, "", Gelu},
    {&kGreater, "Greater"},
    {&kGreaterEqual, "GreaterOrEqual"},
    {&kHardSigmoid, "HardSigmoid", ExportAlike, {{"alpha"}, {"beta"}}},
    {&kHardSwish, "HardSwish"},
    {&kIsInf,
     "IsInf",
     ExportAlike,
     {{"detect_positive", "positive"}, {"detect_negative", "negative"}}},
    {&kIsNan, "IsNaN"},
    {&kLeakyRelu, "LeakyRelu", ExportAlike, {{"alpha"}}},
    {&kLess, "Less"},
    {&kLessEqual, "LessOrEqual"},
    {&kLog, "Log"},
    {&kMax, "Max"},
    {&kMin, "Min"},
    {&kMish, "", Mish},
    {&kMod, "Mod", Mod, {{"fmod"}}},
    {&kMul, "Mul"},
    {&kNeg, "Neg"},
    {&kNot, "Not"},
    {&kNotEqual, "", NotEqual},
    {&kOr, "Or"},
    {&kPow, "Pow"},
    {&kPrelu, "PRelu"},
    {&kReciprocal, "Reciprocal"},
    {&kRelu, "Relu"},
    {&kRound, "Round"},
    {&kSelu, "Selu", ExportAlike, {{"alpha"}, {"gamma"}}},
    {&kShrink, "Shrink", ExportAlike, {{"bias"}, {"lambd", "lambda"}}},
    {&kSigmoid, "Sigmoid"},
    {&kSign, "Sign"},
    {&kSilu, "", Silu},
    {&kSin, "Sin"},
    {&kSinh, "Sinh"},
    {&kSoftplus, "Softplus"},
    {&kSoftsign, "Softsign"},
    {&kSqrt, "Sqrt"},
    {&kStopGradient, "Identity"},
    {&kSub, "Sub"},
    {&kTan, "Tan"},
    {&kTanh, "Tanh"},
    {&kThresholdedRelu, "ThresholdedRelu", ExportAlike, {{"alpha"}}},
    {&kWhere, "Where"},
    {&kXor, "Xor"},
};

}  // namespace

extern constinit const ExportFamily kElementwiseExports = {kRows};

}  // namespace partita
