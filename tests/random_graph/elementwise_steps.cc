// Steps of elementwise ops, and patterns of such ops.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "graph/ops/op_list.h"
#include "tests/random_graph/graph_sketch.h"

namespace partita {
namespace {

// Functions that map [-a, a] into about [-a, a], or [-1, 1].
const OpDef* TameFunction(GraphSketch& s) {
  return s.OneOf({&kRelu, &kNeg, &kAbs, &kTanh, &kSigmoid, &kErf, &kSin, &kCos,
                  &kSoftsign, &kSilu, &kGelu, &kHardSwish, &kElu, &kLeakyRelu,
                  &kHardSigmoid, &kMish});
}

// A shape that broadcasts to `dims`.
Shape Narrower(GraphSketch& s, const Shape& dims) {
  Shape narrow(dims.begin() + s.Below(static_cast<int64_t>(dims.size()) + 1),
               dims.end());
  for (int64_t& extent : narrow) {
    if (s.OneIn(3)) extent = 1;
  }
  return narrow;
}

ValueId ScalarConstant(GraphSketch& s, double value) {
  return s.Constant(DType::kF32, {}, value, value);
}

bool IsInteger32(const TensorType& type) { return type.dtype == DType::kI32; }
bool IsBool(const TensorType& type) { return type.dtype == DType::kBool; }

}  // namespace

void ElementwiseStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  if (s.OneIn(8)) {
    s.Add(kClip, {x}, {{"min", -0.5}, {"max", 1.5}});
  } else if (s.OneIn(8)) {  // of non-negative numbers
    s.Add(kSqrt, {s.AddHidden(kAbs, {x})});
  } else if (s.OneIn(8)) {  // of numbers in [-1, 1]
    s.Add(kExp, {s.AddHidden(kTanh, {x})});
  } else {
    s.Add(*TameFunction(s), {x});
  }
}

void BroadcastStep(GraphSketch& s) {
  const ValueId a = s.PickFloat();
  if (!a.valid()) return;
  ValueId b = s.PickFloat();
  if (s.OneIn(2)) b = s.Constant(DType::kF32, Narrower(s, s.dims(a)), -1, 1);
  const OpDef* op = s.OneOf({&kAdd, &kAdd, &kSub, &kMul, &kMin, &kMax});
  const bool turned = s.OneIn(2);
  const ValueId result = s.Add(*op, turned ? ValueIds{b, a} : ValueIds{a, b});
  if (op == &kMul && result.valid()) s.Add(kTanh, {result});
}

// For remove_identities and similar passes.
void NoEffectStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  if (!x.valid()) return;
  const Shape& dims = s.dims(x);
  const Ints shape(dims.begin(), dims.end());
  Ints same(dims.size());
  for (size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int64_t>(i);
  switch (s.Below(7)) {
    case 0:
      s.Add(kAdd, {x, ScalarConstant(s, 0)});
      break;
    case 1:
      s.Add(kMul, {ScalarConstant(s, 1), x});
      break;
    case 2:
      s.Add(kReshape, {x}, {{"shape", shape}});
      break;
    case 3:
      s.Add(kTranspose, {x}, {{"perm", same}});
      break;
    case 4:
      s.Add(kCast, {x}, {{"to", DType::kF32}});
      break;
    case 5:
      s.Add(kStopGradient, {x});
      break;
    default:
      s.Add(kNeg, {s.AddHidden(kNeg, {x})});
  }
}

// Activations in terms of smaller ops, for recognise_activations.
void ActivationStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  if (s.OneIn(2)) {  // silu
    s.Add(kMul, {x, s.AddHidden(kSigmoid, {x})});
    return;
  }
  // gelu: x / 2 * (1 + erf(x / sqrt 2))
  const ValueId scaled =
      s.AddHidden(kDiv, {x, ScalarConstant(s, std::sqrt(2.0))});
  const ValueId sum =
      s.AddHidden(kAdd, {s.AddHidden(kErf, {scaled}), ScalarConstant(s, 1)});
  const ValueId product = s.AddHidden(kMul, {x, sum});
  s.Add(kMul, {product, ScalarConstant(s, 0.5)});
}

// Values that are known before the inputs: from constants, or from the extents
// of a value.
void ConstantStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  if (!x.valid()) return;
  const ValueId c = s.Constant(DType::kF32, Narrower(s, s.dims(x)), -1, 1);
  const ValueId folded = s.AddHidden(*TameFunction(s), {c});
  s.Add(kAdd, {x, s.OneIn(2) ? s.AddHidden(kMul, {folded, c}) : folded});
}

void ShapeStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  const ValueId extents =
      s.OneIn(3) ? s.AddHidden(kSize, {x}) : s.AddHidden(kShape, {x});
  const ValueId number = s.AddHidden(kCast, {extents}, {{"to", DType::kF32}});
  s.Add(kSin, {number});
}

// A diamond: two paths lead from x to the sum.
void ResidualStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  const ValueId y = s.AddHidden(*TameFunction(s), {x});
  const ValueId z = s.OneIn(2) ? s.AddHidden(*TameFunction(s), {y}) : y;
  s.Add(kAdd, {x, z});
}

// Integers, bools, and ops that combine them with floats.
void DiscreteStep(GraphSketch& s) {
  if (!s.options().discrete) return;
  const ValueId x = s.PickFloat();
  const ValueId i = s.Pick(IsInteger32);
  ValueId condition = s.Pick(IsBool);
  if (!condition.valid()) condition = s.AddHidden(kGreater, {x, x});
  switch (s.Below(7)) {
    case 0:
      s.Add(*s.OneOf({&kFloor, &kCeil, &kRound, &kSign}), {x});
      break;
    case 1:
      s.Add(kCast, {s.AddHidden(kTanh, {x})}, {{"to", DType::kI32}});
      break;
    case 2:
      s.Add(*s.OneOf({&kAdd, &kSub, &kMul, &kMax, &kMin}), {i, i});
      break;
    case 3:
      s.Add(*s.OneOf({&kLess, &kGreater, &kLessEqual}), {x, x});
      break;
    case 4:
      s.Add(kLess, {x, ScalarConstant(s, 0.25)});
      break;
    case 5:
      s.Add(kWhere, {condition, x, ScalarConstant(s, -1)});
      break;
    default:
      s.Add(kCast, {condition}, {{"to", DType::kF32}});
  }
}

}  // namespace partita
