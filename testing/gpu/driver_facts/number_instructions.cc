// The table of instructions, each with the same on the host.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/number_instructions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

namespace partita {
namespace {

using Kind = NumberKind;

template <typename To, typename From>
To Bits(From from) {
  To to{};
  std::memcpy(&to, &from, std::min(sizeof(to), sizeof(from)));
  return to;
}

float F32(uint64_t bits) { return Bits<float>(static_cast<uint32_t>(bits)); }
double F64(uint64_t bits) { return Bits<double>(bits); }
int32_t I32(uint64_t bits) { return static_cast<int32_t>(bits); }
uint32_t U32(uint64_t bits) { return static_cast<uint32_t>(bits); }
uint64_t Out(float x) { return Bits<uint32_t>(x); }
uint64_t Out(double x) { return Bits<uint64_t>(x); }
uint64_t Out(int32_t x) { return static_cast<uint32_t>(x); }
uint64_t Out(uint32_t x) { return x; }

float FromF16(uint64_t bits) {
  return static_cast<float>(Bits<_Float16>(static_cast<uint16_t>(bits)));
}
uint64_t ToF16(float x) { return Bits<uint16_t>(static_cast<_Float16>(x)); }
float FromBF16(uint64_t bits) { return F32((bits & 0xffff) << 16); }
uint64_t DoubleToF16(double x) {
  return Bits<uint16_t>(static_cast<_Float16>(x));
}
uint64_t ToBF16(float x) {
  if (std::isnan(x)) return 0x7fff;
  uint32_t bits = Bits<uint32_t>(x);
  bits += 0x7fff + ((bits >> 16) & 1);
  return bits >> 16;
}

// Values out of range give the bound. NaN gives 0.
template <typename Int>
uint64_t Saturate(double x) {
  if (std::isnan(x)) return 0;
  // Exact bounds: the upper one is a power of two that is just out of range.
  const double low = static_cast<double>(std::numeric_limits<Int>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<Int>::digits);
  Int value = 0;
  if (x <= low) {
    value = std::numeric_limits<Int>::min();
  } else if (x >= high) {
    value = std::numeric_limits<Int>::max();
  } else {
    value = static_cast<Int>(x);
  }
  return static_cast<uint64_t>(static_cast<std::make_unsigned_t<Int>>(value));
}

// The same where the source is f64 or the result has 64 bits: NaN gives the
// highest bit alone (PTX ISA, cvt).
template <typename Int>
uint64_t SaturateF64(double x) {
  return std::isnan(x) ? uint64_t{1} << (8 * sizeof(Int) - 1)
                       : Saturate<Int>(x);
}

// PTX min and max: -0 < +0; a NaN operand gives the other.
template <typename T>
T Least(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T Greatest(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
float NaNOr(float a, float b, float result) {
  return std::isnan(a) || std::isnan(b)
             ? std::numeric_limits<float>::quiet_NaN()
             : result;
}

// The sum rounded to odd: rounded again to 24 bits or less, it gives what the
// exact sum gives (Boldo and Melquiond, 2008).
double OddSum(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  const double other = sum - x;
  const double error = (x - (sum - other)) + (y - other);
  const uint64_t bits = Bits<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return F64((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// By way of a float that is rounded to odd.
uint64_t DoubleToBF16(double x) {
  float narrow = static_cast<float>(x);
  if (std::isnan(x) || narrow == x) return ToBF16(narrow);
  if (std::fabs(narrow) > std::fabs(x)) {
    narrow = std::nextafter(narrow, 0.0f);
  }
  return ToBF16(F32(Bits<uint32_t>(narrow) | 1));
}

uint64_t QuietF64(uint64_t bits) { return bits | 0x0008000000000000u; }
uint64_t NarrowNaN(uint64_t bits) {
  return (bits >> 32 & 0x80000000u) | 0x7fc00000u | (bits >> 29 & 0x3fffffu);
}
uint64_t WidenNaN(uint64_t bits) {
  return (bits & 0x80000000u) << 32 | 0x7ff8000000000000u |
         (bits & 0x7fffffu) << 29;
}
uint64_t ShiftNaN(uint64_t bits) { return bits << 16; }

bool DivisorIsZero(uint64_t, uint64_t b) { return U32(b) == 0; }
bool QuotientUndefined(uint64_t a, uint64_t b) {
  return U32(b) == 0 || (U32(a) == 0x80000000u && I32(b) == -1);
}

#define PARTITA_HOST(expression)              \
  [](uint64_t a, [[maybe_unused]] uint64_t b, \
     [[maybe_unused]] uint64_t c) -> uint64_t { return expression; }

constexpr char kRounded[] =
    "rounded to nearest even, denormals kept, as IEEE 754";
constexpr char kSaturated[] = "out of range saturates, NaN gives 0";
constexpr char kSaturatedWide[] =
    "out of range saturates; NaN, from f64 or to 64 bits, gives the highest "
    "bit "
    "alone";
constexpr char kNumberWins[] = "-0 < +0; a NaN operand gives the other";
constexpr char kNaNWins[] = "-0 < +0; a NaN operand gives NaN";

constexpr TestedInstruction kInstructions[] = {
    {"add_f32", "add.rn.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(F32(a) + F32(b))), kRounded},
    {"sub_f32", "sub.rn.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(F32(a) - F32(b))), kRounded},
    {"mul_f32", "mul.rn.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(F32(a) * F32(b))), kRounded},
    {"fma_f32", "fma.rn.f32", Kind::kF32, Kind::kF32, 3,
     PARTITA_HOST(Out(std::fma(F32(a), F32(b), F32(c)))), kRounded},
    {"div_f32", "div.rn.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(F32(a) / F32(b))), kRounded},
    {"rcp_f32", "rcp.rn.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(1.0f / F32(a))), kRounded},
    {"sqrt_f32", "sqrt.rn.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::sqrt(F32(a)))), kRounded},
    {"min_f32", "min.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(Least(F32(a), F32(b)))), kNumberWins},
    {"max_f32", "max.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(Greatest(F32(a), F32(b)))), kNumberWins},
    {"min_nan_f32", "min.NaN.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(NaNOr(F32(a), F32(b), Least(F32(a), F32(b))))), kNaNWins},
    {"max_nan_f32", "max.NaN.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(NaNOr(F32(a), F32(b), Greatest(F32(a), F32(b))))),
     kNaNWins},
    {"abs_f32", "abs.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::fabs(F32(a)))), "the sign is cleared"},
    {"neg_f32", "neg.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(-F32(a))), "the sign is flipped"},
    {"rint_f32", "cvt.rni.f32.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::nearbyint(F32(a)))), "to the nearest even integer"},
    {"trunc_f32", "cvt.rzi.f32.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::trunc(F32(a)))), "towards zero"},
    {"floor_f32", "cvt.rmi.f32.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::floor(F32(a)))), "down"},
    {"ceil_f32", "cvt.rpi.f32.f32", Kind::kF32, Kind::kF32, 1,
     PARTITA_HOST(Out(std::ceil(F32(a)))), "up"},
    {"add_f64", "add.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) + F64(b))), kRounded, nullptr, QuietF64},
    {"mul_f64", "mul.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) * F64(b))), kRounded, nullptr, QuietF64},
    {"fma_f64", "fma.rn.f64", Kind::kF64, Kind::kF64, 3,
     PARTITA_HOST(Out(std::fma(F64(a), F64(b), F64(c)))), kRounded, nullptr,
     QuietF64},
    {"div_f64", "div.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) / F64(b))), kRounded, nullptr, QuietF64},
    {"sqrt_f64", "sqrt.rn.f64", Kind::kF64, Kind::kF64, 1,
     PARTITA_HOST(Out(std::sqrt(F64(a)))), kRounded, nullptr, QuietF64},
    {"min_f64", "min.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(Least(F64(a), F64(b)))), kNumberWins, nullptr, QuietF64},
    {"max_f64", "max.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(Greatest(F64(a), F64(b)))), kNumberWins, nullptr,
     QuietF64},
    {"f32_from_f64", "cvt.rn.f32.f64", Kind::kF64, Kind::kF32, 1,
     PARTITA_HOST(Out(static_cast<float>(F64(a)))), kRounded, nullptr,
     NarrowNaN},
    {"f64_from_f32", "cvt.f64.f32", Kind::kF32, Kind::kF64, 1,
     PARTITA_HOST(Out(static_cast<double>(F32(a)))), "exact", nullptr,
     WidenNaN},
    {"f16_from_f32", "cvt.rn.f16.f32", Kind::kF32, Kind::kF16, 1,
     PARTITA_HOST(ToF16(F32(a))), kRounded},
    {"f32_from_f16", "cvt.f32.f16", Kind::kF16, Kind::kF32, 1,
     PARTITA_HOST(Out(FromF16(a))), "exact"},
    {"bf16_from_f32", "cvt.rn.bf16.f32", Kind::kF32, Kind::kBF16, 1,
     PARTITA_HOST(ToBF16(F32(a))), kRounded},
    {"f32_from_bf16", "cvt.f32.bf16", Kind::kBF16, Kind::kF32, 1,
     PARTITA_HOST(Out(FromBF16(a))), "exact", nullptr, ShiftNaN},
    {"add_f16", "add.rn.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(FromF16(a) + FromF16(b))), kRounded},
    {"mul_f16", "mul.rn.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(FromF16(a) * FromF16(b))), kRounded},
    {"sub_f64", "sub.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) - F64(b))), kRounded, nullptr, QuietF64},
    {"rcp_f64", "rcp.rn.f64", Kind::kF64, Kind::kF64, 1,
     PARTITA_HOST(Out(1.0 / F64(a))), kRounded, nullptr, QuietF64},
    {"abs_f64", "abs.f64", Kind::kF64, Kind::kF64, 1,
     PARTITA_HOST(Out(std::fabs(F64(a)))), "the sign is cleared", nullptr,
     QuietF64},
    {"neg_f64", "neg.f64", Kind::kF64, Kind::kF64, 1,
     PARTITA_HOST(Out(-F64(a))), "the sign is flipped", nullptr, QuietF64},
    {"fma_f16", "fma.rn.f16", Kind::kF16, Kind::kF16, 3,
     PARTITA_HOST(
         DoubleToF16(OddSum(double{FromF16(a)} * FromF16(b), FromF16(c)))),
     kRounded},
    {"min_f16", "min.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(Least(FromF16(a), FromF16(b)))), kNumberWins},
    {"max_f16", "max.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(Greatest(FromF16(a), FromF16(b)))), kNumberWins},
    {"add_bf16", "add.rn.bf16", Kind::kBF16, Kind::kBF16, 2,
     PARTITA_HOST(DoubleToBF16(OddSum(FromBF16(a), FromBF16(b)))), kRounded},
    {"mul_bf16", "mul.rn.bf16", Kind::kBF16, Kind::kBF16, 2,
     PARTITA_HOST(DoubleToBF16(double{FromBF16(a)} * FromBF16(b))), kRounded},
    {"fma_bf16", "fma.rn.bf16", Kind::kBF16, Kind::kBF16, 3,
     PARTITA_HOST(
         DoubleToBF16(OddSum(double{FromBF16(a)} * FromBF16(b), FromBF16(c)))),
     kRounded},
    {"min_bf16", "min.bf16", Kind::kBF16, Kind::kBF16, 2,
     PARTITA_HOST(ToBF16(Least(FromBF16(a), FromBF16(b)))), kNumberWins},
    {"max_bf16", "max.bf16", Kind::kBF16, Kind::kBF16, 2,
     PARTITA_HOST(ToBF16(Greatest(FromBF16(a), FromBF16(b)))), kNumberWins},
    {"f16_from_f64", "cvt.rn.f16.f64", Kind::kF64, Kind::kF16, 1,
     PARTITA_HOST(DoubleToF16(F64(a))), kRounded},
    {"u32_from_f64", "cvt.rzi.u32.f64", Kind::kF64, Kind::kInt32, 1,
     PARTITA_HOST(SaturateF64<uint32_t>(F64(a))), kSaturatedWide},
    {"u64_from_f32", "cvt.rzi.u64.f32", Kind::kF32, Kind::kInt64, 1,
     PARTITA_HOST(SaturateF64<uint64_t>(F32(a))), kSaturatedWide},
    {"u64_from_f64", "cvt.rzi.u64.f64", Kind::kF64, Kind::kInt64, 1,
     PARTITA_HOST(SaturateF64<uint64_t>(F64(a))), kSaturatedWide},
    {"s32_from_f16", "cvt.rzi.s32.f16", Kind::kF16, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(FromF16(a))), kSaturated},
    {"s32_from_f32", "cvt.rzi.s32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(F32(a))), kSaturated},
    {"s32_rint_f32", "cvt.rni.s32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(std::nearbyint(F32(a)))), kSaturated},
    {"u32_from_f32", "cvt.rzi.u32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<uint32_t>(F32(a))), kSaturated},
    {"s64_from_f32", "cvt.rzi.s64.f32", Kind::kF32, Kind::kInt64, 1,
     PARTITA_HOST(SaturateF64<int64_t>(F32(a))), kSaturatedWide},
    {"s32_from_f64", "cvt.rzi.s32.f64", Kind::kF64, Kind::kInt32, 1,
     PARTITA_HOST(SaturateF64<int32_t>(F64(a))), kSaturatedWide},
    {"s64_from_f64", "cvt.rzi.s64.f64", Kind::kF64, Kind::kInt64, 1,
     PARTITA_HOST(SaturateF64<int64_t>(F64(a))), kSaturatedWide},
    {"f32_from_s32", "cvt.rn.f32.s32", Kind::kInt32, Kind::kF32, 1,
     PARTITA_HOST(Out(static_cast<float>(I32(a)))), kRounded},
    {"f32_from_u64", "cvt.rn.f32.u64", Kind::kInt64, Kind::kF32, 1,
     PARTITA_HOST(Out(static_cast<float>(a))), kRounded},
    {"f32_from_s64", "cvt.rn.f32.s64", Kind::kInt64, Kind::kF32, 1,
     PARTITA_HOST(Out(static_cast<float>(static_cast<int64_t>(a)))), kRounded},
    {"f64_from_s64", "cvt.rn.f64.s64", Kind::kInt64, Kind::kF64, 1,
     PARTITA_HOST(Out(static_cast<double>(static_cast<int64_t>(a)))), kRounded},
    {"div_s32", "div.s32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(Out(I32(a) / I32(b))),
     "truncated; by zero, and INT_MIN / -1, unspecified", QuotientUndefined},
    {"rem_s32", "rem.s32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(Out(I32(a) % I32(b))),
     "sign of the dividend; by zero, and INT_MIN / -1, unspecified",
     QuotientUndefined},
    {"div_u32", "div.u32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(Out(U32(a) / U32(b))), "truncated; by zero unspecified",
     DivisorIsZero},
    {"rem_u32", "rem.u32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(Out(U32(a) % U32(b))), "by zero unspecified", DivisorIsZero},
    {"shl_b32", "shl.b32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(U32(b) > 31 ? 0 : Out(U32(a) << U32(b))),
     "shifts above 31 are clamped to 32"},
    {"shr_u32", "shr.u32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(U32(b) > 31 ? 0 : Out(U32(a) >> U32(b))),
     "shifts above 31 are clamped to 32"},
    {"shr_s32", "shr.s32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(Out(I32(a) >> std::min(U32(b), 31u))),
     "shifts above 31 fill with the sign"},
    {"abs_s32", "abs.s32", Kind::kInt32, Kind::kInt32, 1,
     PARTITA_HOST(I32(a) < 0 ? Out(0u - U32(a)) : U32(a)),
     "INT_MIN gives INT_MIN"},
    {"mulhi_s32", "mul.hi.s32", Kind::kInt32, Kind::kInt32, 2,
     PARTITA_HOST(
         Out(static_cast<int32_t>((int64_t{I32(a)} * int64_t{I32(b)}) >> 32))),
     "the upper half of the product"},
    {"mad_s32", "mad.lo.s32", Kind::kInt32, Kind::kInt32, 3,
     PARTITA_HOST(Out(U32(a) * U32(b) + U32(c))), "wraps"},
    {"popc_b32", "popc.b32", Kind::kInt32, Kind::kInt32, 1,
     PARTITA_HOST(Out(static_cast<uint32_t>(__builtin_popcount(U32(a))))),
     "the number of ones"},
    {"clz_b32", "clz.b32", Kind::kInt32, Kind::kInt32, 1,
     PARTITA_HOST(
         U32(a) == 0 ? 32 : Out(static_cast<uint32_t>(__builtin_clz(U32(a))))),
     "leading zeros; 32 of 0"},
};

#undef PARTITA_HOST

static_assert(std::size(kInstructions) == kInstructionCount);

}  // namespace

int BytesOf(NumberKind kind) {
  switch (kind) {
    case Kind::kF16:
    case Kind::kBF16:
      return 2;
    case Kind::kF32:
    case Kind::kInt32:
      return 4;
    default:
      return 8;
  }
}

bool IsNaN(NumberKind kind, uint64_t bits) {
  switch (kind) {
    case Kind::kF16:
      return (bits & 0x7fff) > 0x7c00;
    case Kind::kBF16:
      return (bits & 0x7fff) > 0x7f80;
    case Kind::kF32:
      return std::isnan(F32(bits));
    case Kind::kF64:
      return std::isnan(F64(bits));
    default:
      return false;
  }
}

uint64_t CanonicalNaN(NumberKind kind) {
  return (uint64_t{1} << (8 * BytesOf(kind) - 1)) - 1;
}

absl::Span<const TestedInstruction> TestedInstructions() {
  return kInstructions;
}

}  // namespace partita
