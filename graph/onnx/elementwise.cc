// ONNX's scalar functions, casts and selections.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

template <const OpDef& op>
absl::Status Unary(NodeImport& node) {
  return node.Return(node.Add(op, {node.input(0)}));
}

template <const OpDef& op>
absl::Status Binary(NodeImport& node) {
  return node.Return(node.Add(op, {node.input(0), node.input(1)}));
}

// Sum, Max and Min take any number of operands.
template <const OpDef& op>
absl::Status Chain(NodeImport& node) {
  ValueId value = node.input(0);
  for (int i = 1; i < node.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(value, node.Add(op, {value, node.input(i)}));
  }
  return node.Set(0, value);
}

absl::Status Mean(NodeImport& node) {
  ValueId sum = node.input(0);
  for (int i = 1; i < node.num_inputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(sum, node.Add(kAdd, {sum, node.input(i)}));
  }
  const ValueId count =
      node.Scalar(node.type(0).dtype, static_cast<double>(node.num_inputs()));
  return node.Return(node.Add(kDiv, {sum, count}));
}

// One float attribute with the same name.
template <const OpDef& op, int percent_default>
absl::Status WithAlpha(NodeImport& node) {
  return node.Return(
      node.Add(op, {node.input(0)},
               {{"alpha", node.Float("alpha", percent_default / 100.0)}}));
}

absl::Status HardSigmoid(NodeImport& node) {
  return node.Return(node.Add(kHardSigmoid, {node.input(0)},
                              {{"alpha", node.Float("alpha", 0.2)},
                               {"beta", node.Float("beta", 0.5)}}));
}

absl::Status Selu(NodeImport& node) {
  return node.Return(
      node.Add(kSelu, {node.input(0)},
               {{"alpha", node.Float("alpha", 1.67326319217681884765625)},
                {"gamma", node.Float("gamma", 1.05070102214813232421875)}}));
}

absl::Status Shrink(NodeImport& node) {
  return node.Return(node.Add(
      kShrink, {node.input(0)},
      {{"bias", node.Float("bias", 0)}, {"lambda", node.Float("lambd", 0.5)}}));
}

absl::Status Gelu(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string approximate,
      node.Choice("approximate", "none", {"none", "tanh"}));
  return node.Return(
      node.Add(kGelu, {node.input(0)}, {{"tanh", approximate == "tanh"}}));
}

absl::Status IsInf(NodeImport& node) {
  return node.Return(
      node.Add(kIsInf, {node.input(0)},
               {{"positive", node.Flag("detect_positive", true)},
                {"negative", node.Flag("detect_negative", true)}}));
}

absl::Status Mod(NodeImport& node) {
  return node.Return(node.Add(kMod, {node.input(0), node.input(1)},
                              {{"fmod", node.Flag("fmod", false)}}));
}

absl::Status BitShift(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const std::string direction,
                           node.Choice("direction", "", {"LEFT", "RIGHT"}));
  return node.Return(node.Add(kBitShift, {node.input(0), node.input(1)},
                              {{"left", direction == "LEFT"}}));
}

// A bound is an attribute up to opset 10, an input from 11 on.
absl::StatusOr<double> Bound(NodeImport& node, int input, const char* attribute,
                             double otherwise) {
  if (node.has_attr(attribute)) return node.Float(attribute, otherwise);
  if (!node.has_input(input)) return otherwise;
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* bound,
                           node.Constant(input, "a bound"));
  if (bound->type().num_elements() != 1) {
    return node.Invalid(bound->type().ToString(), "a bound of one element");
  }
  return GetAsDouble(*bound, 0);
}

// The bound at an input wherever it is `beyond` the value. A NaN bound has no
// effect, as in kClip.
absl::StatusOr<ValueId> Bounded(NodeImport& node, ValueId value, int input,
                                const OpDef& beyond) {
  if (!node.has_input(input)) return value;
  const ValueId bound = node.input(input);
  PARTITA_ASSIGN_OR_RETURN(const ValueId is_beyond,
                           node.Add(beyond, {bound, value}));
  return node.Add(kWhere, {is_beyond, bound, value});
}

// With bounds that depend on data.
absl::Status ClipByOps(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const ValueId value,
                           Bounded(node, node.input(0), 1, kGreater));
  return node.Return(Bounded(node, value, 2, kLess));
}

absl::Status Clip(NodeImport& node) {
  // Integer bounds above 2^53 do not fit a float attribute.
  const bool exact = IsFloat(node.type(0).dtype);
  const bool known = (!node.has_input(1) || node.KnownInput(1) != nullptr) &&
                     (!node.has_input(2) || node.KnownInput(2) != nullptr);
  if (!exact || !known) return ClipByOps(node);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  PARTITA_ASSIGN_OR_RETURN(const double least,
                           Bound(node, 1, "min", -kInfinity));
  PARTITA_ASSIGN_OR_RETURN(const double most, Bound(node, 2, "max", kInfinity));
  return node.Return(
      node.Add(kClip, {node.input(0)}, {{"min", least}, {"max", most}}));
}

absl::StatusOr<ValueId> CastTo(NodeImport& node, ValueId value, DType dtype) {
  return node.Add(kCast, {value}, {{"to", dtype}});
}

absl::Status Cast(NodeImport& node) {
  if (!node.has_attr("to")) {
    return node.Invalid("no attribute to", "the type to cast to");
  }
  const std::optional<DType> to = DTypeOfOnnx(node.Int("to", 0));
  if (!to.has_value()) {
    return node.Unsupported("a cast to strings or an unknown type",
                            "a cast to numbers or bool");
  }
  return node.Return(CastTo(node, node.input(0), *to));
}

absl::Status CastLike(NodeImport& node) {
  return node.Return(CastTo(node, node.input(0), node.type(1).dtype));
}

absl::Status BitCast(NodeImport& node) {
  const std::optional<DType> to = DTypeOfOnnx(node.Int("to", 0));
  if (!to.has_value()) {
    return node.Unsupported("a bit cast to an unknown type",
                            "a bit cast to numbers or bool");
  }
  return node.Return(node.Add(kBitCast, {node.input(0)}, {{"to", *to}}));
}

absl::Status Where(NodeImport& node) {
  return node.Return(
      node.Add(kWhere, {node.input(0), node.input(1), node.input(2)}));
}

absl::Status Identity(NodeImport& node) { return node.Set(0, node.input(0)); }

// The slope is aligned with the dimensions from the channel on.
absl::Status PRelu(NodeImport& node) {
  return node.Return(node.Add(kPrelu, {node.input(0), node.input(1)}));
}

// x sigmoid(alpha x)
Expr Swished(Expr x, double alpha) {
  return alpha == 1 ? x.Apply(kSilu) : x * (x * alpha).Apply(kSigmoid);
}

absl::Status Swish(NodeImport& node) {
  Composition c(node);
  return c.Return(Swished(c.Input(0), node.Float("alpha", 1)));
}

absl::Status SwiGlu(NodeImport& node) {
  if (node.type(0).dims != node.type(1).dims) {
    return OfExtents(
        node.Invalid(absl::StrCat("input 1 ", node.type(1).ToString()),
                     absl::StrCat(node.type(0).ToString(), ", as input 0")));
  }
  Composition c(node);
  return c.Return(Swished(c.Input(0), node.Float("alpha", 1)) * c.Input(1));
}

constexpr ConverterRow kRows[] = {
    {"Abs", Unary<kAbs>, 1},
    {"Acos", Unary<kAcos>, 1},
    {"Acosh", Unary<kAcosh>, 1},
    {"Add", Binary<kAdd>, 2},
    {"And", Binary<kAnd>, 2},
    {"Asin", Unary<kAsin>, 1},
    {"Asinh", Unary<kAsinh>, 1},
    {"Atan", Unary<kAtan>, 1},
    {"Atanh", Unary<kAtanh>, 1},
    {"BitCast", BitCast, 1, 1, "to"},
    {"BitShift", BitShift, 2, 1, "direction"},
    {"BitwiseAnd", Binary<kBitwiseAnd>, 2},
    {"BitwiseNot", Unary<kBitwiseNot>, 1},
    {"BitwiseOr", Binary<kBitwiseOr>, 2},
    {"BitwiseXor", Binary<kBitwiseXor>, 2},
    {"Cast", Cast, 1, 1, "to"},
    {"CastLike", CastLike, 2},
    {"Ceil", Unary<kCeil>, 1},
    {"Celu", WithAlpha<kCelu, 100>, 1, 1, "alpha"},
    {"Clip", Clip, 1, 1, "max min"},
    {"Cos", Unary<kCos>, 1},
    {"Cosh", Unary<kCosh>, 1},
    {"Div", Binary<kDiv>, 2},
    {"Elu", WithAlpha<kElu, 100>, 1, 1, "alpha"},
    {"Equal", Binary<kEqual>, 2},
    {"Erf", Unary<kErf>, 1},
    {"Exp", Unary<kExp>, 1},
    {"Floor", Unary<kFloor>, 1},
    {"Gelu", Gelu, 1, 1, "approximate"},
    {"Greater", Binary<kGreater>, 2},
    {"GreaterOrEqual", Binary<kGreaterEqual>, 2},
    {"HardSigmoid", HardSigmoid, 1, 1, "alpha beta"},
    {"HardSwish", Unary<kHardSwish>, 1},
    {"Identity", Identity, 1},
    {"IsInf", IsInf, 1, 1, "detect_negative detect_positive"},
    {"IsNaN", Unary<kIsNan>, 1},
    {"LeakyRelu", WithAlpha<kLeakyRelu, 1>, 1, 1, "alpha"},
    {"Less", Binary<kLess>, 2},
    {"LessOrEqual", Binary<kLessEqual>, 2},
    {"Log", Unary<kLog>, 1},
    {"Max", Chain<kMax>, kEvery},
    {"Mean", Mean, kEvery},
    {"Min", Chain<kMin>, kEvery},
    {"Mish", Unary<kMish>, 1},
    {"Mod", Mod, 2, 1, "fmod"},
    {"Mul", Binary<kMul>, 2},
    {"Neg", Unary<kNeg>, 1},
    {"Not", Unary<kNot>, 1},
    {"Or", Binary<kOr>, 2},
    {"PRelu", PRelu, 2},
    {"Pow", Binary<kPow>, 2},
    {"Reciprocal", Unary<kReciprocal>, 1},
    {"Relu", Unary<kRelu>, 1},
    {"Round", Unary<kRound>, 1},
    {"Selu", Selu, 1, 1, "alpha gamma"},
    {"Shrink", Shrink, 1, 1, "bias lambd"},
    {"Sigmoid", Unary<kSigmoid>, 1},
    {"Sign", Unary<kSign>, 1},
    {"Sin", Unary<kSin>, 1},
    {"Sinh", Unary<kSinh>, 1},
    {"Softplus", Unary<kSoftplus>, 1},
    {"Softsign", Unary<kSoftsign>, 1},
    {"Sqrt", Unary<kSqrt>, 1},
    {"Sub", Binary<kSub>, 2},
    {"Sum", Chain<kAdd>, kEvery},
    {"SwiGLU", SwiGlu, 2, 1, "alpha"},
    {"Swish", Swish, 1, 1, "alpha"},
    {"Tan", Unary<kTan>, 1},
    {"Tanh", Unary<kTanh>, 1},
    {"ThresholdedRelu", WithAlpha<kThresholdedRelu, 100>, 1, 1, "alpha"},
    {"Where", Where, 3},
    {"Xor", Binary<kXor>, 2},
};

}  // namespace

extern constinit const ConverterFamily kElementwiseConverters = {kRows};

}  // namespace partita
