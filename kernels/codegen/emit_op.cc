// One row for each op.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/emit_op.h"

#include <bit>
#include <limits>

#include "graph/number.h"
#include "graph/op_def.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/op_list.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen/integer_functions.h"
#include "kernels/codegen/narrow_types.h"
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
  // A float result is an operand, or a whole number no larger than an operand,
  // so it needs no rounding to the operands' type.
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
// An integer beyond a bound becomes the bound's integer part. Compared in f64.
template <typename Integer>
Register ClipInteger(Register x, double min, double max) {
  const auto integer = [&](Integer value) {
    return x.builder->Integer(x.type, static_cast<int64_t>(value));
  };
  const Integer low = Narrow<Integer>(min);
  const Integer high = Narrow<Integer>(max);
  const bool is_empty = static_cast<double>(low) > max;
  const Register value = Cast(x, ScalarType::kF64);
  const Register below = Select(Like(value, max) < value, integer(high), x);
  return Select(value < min, integer(is_empty ? high : low), below);
}
Result Clip(const OpView& op, Operands x) {
  Register y = x[0];
  const double min = op.attr_float("min");
  const double max = op.attr_float("max");
  if (!IsFloatType(y.type)) {
    return PathOf(op) == ScalarPath::kInt ? ClipInteger<int64_t>(y, min, max)
                                          : ClipInteger<uint64_t>(y, min, max);
  }
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
  if (op.attr_bool("tanh")) return GeluByTanh(x[0]);
  if (x[0].type == ScalarType::kF64) return std::nullopt;
  return GeluByErf(x[0]);
}
Result Not(const OpView&, Operands x) {
  return x[0] ^ x[0].builder->Integer(ScalarType::kBool, 1);
}
Result BitwiseNot(const OpView&, Operands x) { return x[0] ^ Like(x[0], -1); }
Result CastOp(const OpView& op, Operands x) {
  return CastFor(ScalarTypeOf(op.attr_dtype("to")), x[0]);
}
Result Where(const OpView&, Operands x) { return Select(x[0], x[1], x[2]); }

Result Div(const OpView&, Operands x) {
  return IsFloatType(x[0].type) ? x[0] / x[1] : IntegerQuotient(x[0], x[1]);
}

// Without fmod the remainder has the sign of the divisor.
Result Mod(const OpView& op, Operands x) {
  if (x[0].type == ScalarType::kF64) return std::nullopt;
  const Register rest = IsFloatType(x[0].type) ? FloatRemainder(x[0], x[1])
                                               : IntegerRemainder(x[0], x[1]);
  if (op.attr_bool("fmod") || IsUnsignedType(rest.type)) return rest;
  const Register zero = Zero(rest);
  const Register differs = (rest < zero) ^ (x[1] < zero);
  return Select(differs & NotEqual(rest, zero), rest + x[1], rest);
}

Result BitShift(const OpView& op, Operands x) {
  return op.attr_bool("left") ? ShiftedLeft(x[0], x[1])
                              : ShiftedRight(x[0], x[1]);
}

Result PowOfIntegers(const OpView& op, Operands x) {
  if (IsFloatType(x[1].type)) return std::nullopt;
  const DType dtype = op.operand_type(1).dtype;
  const int bits = BitsOf(dtype) - (IsSignedInteger(dtype) ? 1 : 0);
  const bool is_signed = PathOf(op) == ScalarPath::kInt;
  const Register n = is_signed && x[1].type == ScalarType::kU64
                         ? Cast(x[1], ScalarType::kI64)
                         : x[1];
  return IntegerPower(x[0], n, bits);
}
// Some constant exponents take a few products or roots.
Result Pow(const OpView& op, Operands x) {
  if (!IsFloatType(x[0].type)) return PowOfIntegers(op, x);
  if (x[0].type == ScalarType::kF64 || x[1].type != ScalarType::kF32) {
    return Power(x[0], Cast(x[1], ScalarType::kF64));
  }
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
    {&kClip, kNumbers, Clip},
    {&kExp, kFloats, Apply<Exp>},
    {&kSin, kF32Only, Apply<Sin>},
    {&kCos, kF32Only, Apply<Cos>},
    {&kTan, kF32Only, Apply<Tan>},
    {&kLog, kFloats, Apply<Log>},
    {&kSinh, kFloats, Apply<Sinh>},
    {&kCosh, kFloats, Apply<Cosh>},
    {&kAsinh, kFloats, Apply<Asinh>},
    {&kAcosh, kFloats, Apply<Acosh>},
    {&kAtanh, kFloats, Apply<Atanh>},
    {&kAsin, kFloats, Apply<Asin>},
    {&kAcos, kFloats, Apply<Acos>},
    {&kAtan, kFloats, Apply<Atan>},
    {&kTanh, kFloats, Apply<Tanh>},
    {&kSigmoid, kFloats, Apply<Sigmoid>},
    {&kSoftplus, kFloats, Apply<Softplus>},
    {&kErf, kF32Only, Apply<Erf>},
    {&kSilu, kFloats, Apply<Silu>},
    {&kMish, kFloats, Apply<Mish>},
    {&kGelu, kFloats, Gelu},
    {&kGeluSlope, kF32Only, Apply<GeluSlope>},
    {&kElu, kFloats, Elu},
    {&kSelu, kFloats, Selu},
    {&kCelu, kFloats, Celu},
    {&kHardSigmoid, kFloats, HardSigmoid},
    {&kHardSwish, kFloats, Apply<HardSwish>},
    {&kLeakyRelu, kFloats, LeakyRelu},
    {&kThresholdedRelu, kFloats, ThresholdedRelu},
    {&kShrink, kFloats, Shrink},
    {&kPrelu, kNumbers, Prelu},
    {&kPow, kNumbers, Pow},
    {&kNot, kBools, Not},
    {&kBitwiseNot, kIntegers, BitwiseNot},
    {&kCast, kAny, CastOp},
    {&kAccumulate, kNumbers, Accumulate},
    {&kAdd, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] + x[1]; }},
    {&kSub, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] - x[1]; }},
    {&kMul, kNumbers, [](const OpView&, Operands x) -> Result { return x[0] * x[1]; }},
    {&kDiv, kNumbers, Div},
    {&kMod, kNumbers, Mod},
    {&kBitShift, kIntegers, BitShift},
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
    const ScalarType type = ScalarTypeOf(op.result_type(0).dtype);
    if (!result.has_value()) return std::nullopt;
    if (IsHalf(type) && (row.accepted & kKeeps) != 0) return result;
    return RoundedTo(type, *result);
  }
  return std::nullopt;
}

}  // namespace partita
