// One row for each op.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/emit_op.h"

#include <bit>
#include <limits>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen/scalar_type.h"

namespace partita {
namespace {

using Operands = absl::Span<const Register>;
using Result = std::optional<Register>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A set of bits. A row's operands have one of these types (the first operand of
// `where` is not checked). 16-bit floats are f32 here, and the result is
// rounded.
enum Accepted : int {
  kF32Only = 1,
  kFloats = 2,
  kIntegers = 4,
  kBools = 8,
  // The result is an operand, or a whole number no larger than an operand, so
  // it needs no rounding to the operands' type.
  kKeeps = 16,
  kNumbers = kFloats | kIntegers,
  kAny = kNumbers | kBools,
};

struct Row {
  const OpDef* op;
  int accepted;
  Result (*emit)(const OpView& op, Operands x);
};

Register Abs(Register x) { return Unary(Opcode::kAbs, x); }
Register Zero(Register x) { return Like(x, 0); }

template <Register (*function)(Register)>
Result Apply(const OpView&, Operands x) {
  return function(x[0]);
}
template <Opcode op>
Result ApplyOpcode(const OpView&, Operands x) {
  return Unary(op, x[0]);
}

Result Relu(const OpView&, Operands x) {
  return Select(x[0] < Zero(x[0]), Zero(x[0]), x[0]);
}
// A single operand is its own sum.
Result Accumulate(const OpView&, Operands x) {
  return x.size() == 1 ? x[0] : x[1] + x[0];
}
// The sign of -0 is 0.
Result Sign(const OpView&, Operands x) {
  const Register zero = Zero(x[0]);
  return Select(zero < x[0], Like(x[0], 1),
                Select(x[0] < zero, Like(x[0], -1),
                       Select(Equal(x[0], zero), zero, x[0])));
}
// If either side is NaN, so is the result.
Result Min(const OpView&, Operands x) {
  return Select((x[0] < x[1]) | IsNan(x[0]), x[0], x[1]);
}
Result Max(const OpView&, Operands x) {
  return Select((x[1] < x[0]) | IsNan(x[0]), x[0], x[1]);
}
Result Clip(const OpView& op, Operands x) {
  Register y = x[0];
  const double min = op.attr_float("min");
  const double max = op.attr_float("max");
  if (min != -kInfinity) y = Select(y < min, Like(y, min), y);
  if (max != kInfinity) y = Select(Like(y, max) < y, Like(y, max), y);
  return y;
}
Result IsInf(const OpView& op, Operands x) {
  const Register above = Equal(x[0], Like(x[0], kInfinity));
  const Register below = Equal(x[0], Like(x[0], -kInfinity));
  const bool positive = op.attr_bool("positive");
  const bool negative = op.attr_bool("negative");
  if (positive && negative) return above | below;
  if (positive) return above;
  if (negative) return below;
  return x[0].builder->Integer(ScalarType::kBool, 0);
}
Register Reciprocal(Register x) { return 1.0 / x; }
Register Softsign(Register x) { return x / (Abs(x) + 1); }
Register Silu(Register x) {
  // x times 0 would be NaN for minus infinity.
  return Select(Equal(x, Like(x, -kInfinity)), Zero(x), x * Sigmoid(x));
}
Register Mish(Register x) { return x * Tanh(Softplus(x)); }
Register UnitClamp(Register y) {
  return Select(y < Zero(y), Zero(y), Select(Like(y, 1) < y, Like(y, 1), y));
}
Register HardSwish(Register x) {
  return x * UnitClamp(Fma(x, 1.0 / 6, Like(x, 0.5)));
}
Result HardSigmoid(const OpView& op, Operands x) {
  return UnitClamp(
      Fma(x[0], op.attr_float("alpha"), Like(x[0], op.attr_float("beta"))));
}
Result Elu(const OpView& op, Operands x) {
  return Select(x[0] < Zero(x[0]), Expm1(x[0]) * op.attr_float("alpha"), x[0]);
}
Result Selu(const OpView& op, Operands x) {
  const Register y =
      Select(Zero(x[0]) < x[0], x[0], Expm1(x[0]) * op.attr_float("alpha"));
  return y * op.attr_float("gamma");
}
Result Celu(const OpView& op, Operands x) {
  const double alpha = op.attr_float("alpha");
  const Register scaled = x[0] / Like(x[0], alpha);
  const Register bend = Expm1(scaled) * alpha;
  return Select((x[0] < Zero(x[0])) | IsNan(bend), bend, x[0]);
}
Result LeakyRelu(const OpView& op, Operands x) {
  return Select(x[0] < Zero(x[0]), x[0] * op.attr_float("alpha"), x[0]);
}
Result ThresholdedRelu(const OpView& op, Operands x) {
  return Select(Like(x[0], op.attr_float("alpha")) < x[0], x[0], Zero(x[0]));
}
Result Prelu(const OpView&, Operands x) {
  return Select(x[0] < Zero(x[0]), x[0] * x[1], x[0]);
}
Result Shrink(const OpView& op, Operands x) {
  const double lambda = op.attr_float("lambda");
  const double bias = op.attr_float("bias");
  const Register above =
      Select(Like(x[0], lambda) < x[0], x[0] - bias, Zero(x[0]));
  return Select(x[0] < -lambda, x[0] + bias, above);
}
Result Gelu(const OpView& op, Operands x) {
  return op.attr_bool("tanh") ? GeluByTanh(x[0]) : GeluByErf(x[0]);
}
Result Not(const OpView&, Operands x) {
  return x[0] ^ x[0].builder->Integer(ScalarType::kBool, 1);
}
Result BitwiseNot(const OpView&, Operands x) { return x[0] ^ Like(x[0], -1); }
// The f32 of an integer that rounds to the same f16: values outside these
// bounds become infinite.
Register BoundedForF16(Register x) {
  const Register most = Like(x, 1 << 17);
  const Register least = Like(x, -(1 << 17));
  const Register above = Select(x < least, least, x);
  return Cast(Select(most < above, most, above), ScalarType::kF32);
}
// Casts to a 16-bit float go through f32. None is emitted for types that f32
// would round first.
Result CastOp(const OpView& op, Operands x) {
  const std::optional<ScalarType> to = ScalarTypeOf(op.attr_dtype("to"));
  if (!to.has_value()) return std::nullopt;
  if (!IsHalf(*to)) return Cast(x[0], *to);
  switch (x[0].type) {
    case ScalarType::kF32:
    case ScalarType::kBool:
      return Cast(x[0], ScalarType::kF32);
    case ScalarType::kI32:
    case ScalarType::kI64:
      if (*to == ScalarType::kF16) return BoundedForF16(x[0]);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}
Result Where(const OpView&, Operands x) { return Select(x[0], x[1], x[2]); }

// Some constant exponents take a few products or roots.
Result Pow(const OpView& op, Operands x) {
  const Instruction& exponent = x[0].builder->instruction(x[1].id);
  if (exponent.op != Opcode::kConstant) return Power(x[0], x[1]);
  const float n = std::bit_cast<float>(static_cast<uint32_t>(exponent.bits));
  if (n == 1) return x[0];
  if (n == 2) return x[0] * x[0];
  if (n == 3) return x[0] * x[0] * x[0];
  if (n == -1) return 1.0 / x[0];
  if (n != 0.5f) return Power(x[0], x[1]);
  // Minus zero gives plus zero, and minus infinity gives infinity.
  return Select(Equal(x[0], Like(x[0], -kInfinity)), Like(x[0], kInfinity),
                Unary(Opcode::kSqrt, x[0] + 0.0));
}

// clang-format off
const Row kRows[] = {
    {&kNeg, kNumbers | kKeeps, ApplyOpcode<Opcode::kNeg>},
    {&kAbs, kNumbers | kKeeps, ApplyOpcode<Opcode::kAbs>},
    {&kSqrt, kFloats, ApplyOpcode<Opcode::kSqrt>},
    {&kFloor, kFloats | kKeeps, ApplyOpcode<Opcode::kFloor>},
    {&kCeil, kFloats | kKeeps, ApplyOpcode<Opcode::kCeil>},
    {&kRound, kFloats | kKeeps, ApplyOpcode<Opcode::kRint>},
    {&kReciprocal, kFloats, Apply<Reciprocal>},
    {&kSoftsign, kFloats, Apply<Softsign>},
    {&kIsNan, kFloats, Apply<IsNan>},
    {&kIsInf, kFloats, IsInf},
    {&kRelu, kNumbers | kKeeps, Relu},
    {&kSign, kNumbers | kKeeps, Sign},
    {&kStopGradient, kNumbers | kKeeps, [](const OpView&, Operands x) -> Result { return x[0]; }},
    {&kClip, kFloats, Clip},
    {&kExp, kF32Only, Apply<Exp>},
    {&kSin, kF32Only, Apply<Sin>},
    {&kCos, kF32Only, Apply<Cos>},
    {&kTan, kF32Only, Apply<Tan>},
    {&kLog, kF32Only, Apply<Log>},
    {&kTanh, kF32Only, Apply<Tanh>},
    {&kSigmoid, kF32Only, Apply<Sigmoid>},
    {&kSoftplus, kF32Only, Apply<Softplus>},
    {&kErf, kF32Only, Apply<Erf>},
    {&kSilu, kF32Only, Apply<Silu>},
    {&kMish, kF32Only, Apply<Mish>},
    {&kGelu, kF32Only, Gelu},
    {&kGeluSlope, kF32Only, Apply<GeluSlope>},
    {&kElu, kF32Only, Elu},
    {&kSelu, kF32Only, Selu},
    {&kCelu, kF32Only, Celu},
    {&kHardSigmoid, kFloats, HardSigmoid},
    {&kHardSwish, kFloats, Apply<HardSwish>},
    {&kLeakyRelu, kFloats, LeakyRelu},
    {&kThresholdedRelu, kFloats, ThresholdedRelu},
    {&kShrink, kFloats, Shrink},
    {&kPrelu, kFloats, Prelu},
    {&kPow, kF32Only, Pow},
    {&kNot, kBools, Not},
    {&kBitwiseNot, kIntegers, BitwiseNot},
    {&kCast, kAny, CastOp},
    {&kAccumulate, kNumbers, Accumulate},
    {&kAdd, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] + x[1]; }},
    {&kSub, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] - x[1]; }},
    {&kMul, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] * x[1]; }},
    {&kDiv, kFloats, [](const OpView&, Operands x) -> Result { return x[0] / x[1]; }},
    {&kMin, kNumbers | kKeeps, Min},
    {&kMax, kNumbers | kKeeps, Max},
    {&kEqual, kAny, [](const OpView&, Operands x) -> Result { return Equal(x[0], x[1]); }},
    {&kNotEqual, kAny, [](const OpView&, Operands x) -> Result { return NotEqual(x[0], x[1]); }},
    {&kLess, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] < x[1]; }},
    {&kLessEqual, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] <= x[1]; }},
    {&kGreater, kNumbers, [](const OpView&, Operands x) -> Result { return x[1] < x[0]; }},
    {&kGreaterEqual, kNumbers, [](const OpView&, Operands x) -> Result { return x[1] <= x[0]; }},
    {&kAnd, kBools, [](const OpView&, Operands x) -> Result { return x[0] & x[1]; }},
    {&kOr, kBools, [](const OpView&, Operands x) -> Result { return x[0] | x[1]; }},
    {&kXor, kBools, [](const OpView&, Operands x) -> Result { return x[0] ^ x[1]; }},
    {&kBitwiseAnd, kIntegers, [](const OpView&, Operands x) -> Result { return x[0] & x[1]; }},
    {&kBitwiseOr, kIntegers, [](const OpView&, Operands x) -> Result { return x[0] | x[1]; }},
    {&kBitwiseXor, kIntegers, [](const OpView&, Operands x) -> Result { return x[0] ^ x[1]; }},
    {&kWhere, kAny | kKeeps, Where},
};
// clang-format on

bool Accepts(int accepted, ScalarType type) {
  switch (type) {
    case ScalarType::kF32:
      return (accepted & (kF32Only | kFloats)) != 0;
    case ScalarType::kF64:
      return (accepted & kFloats) != 0;
    case ScalarType::kBool:
      return (accepted & kBools) != 0;
    default:
      return (accepted & kIntegers) != 0;
  }
}

}  // namespace

std::optional<Register> EmitOp(const OpView& op, Operands operands) {
  for (const Row& row : kRows) {
    if (!op.is(*row.op)) continue;
    for (const Register& operand : operands) {
      if (!Accepts(row.accepted, operand.type)) return std::nullopt;
    }
    const Result result = row.emit(op, operands);
    const std::optional<ScalarType> type =
        ScalarTypeOf(op.result_type(0).dtype);
    if (!result.has_value() || !type.has_value()) return std::nullopt;
    if (!IsHalf(*type) || (row.accepted & kKeeps) != 0) return result;
    return RoundTo(*type, *result);
  }
  return std::nullopt;
}

}  // namespace partita
