// Arithmetic of single PTX instructions, bit by bit against the host's.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "graph/status_macros.h"
#include "tools/gpu/driver_facts/fact.h"
#include "tools/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

enum class Kind { kF16, kBF16, kF32, kF64, kInt32, kInt64 };

int BytesOf(Kind kind) {
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
uint64_t ToBF16(float x) {
  uint32_t bits = Bits<uint32_t>(x);
  bits += 0x7fff + ((bits >> 16) & 1);
  return bits >> 16;
}

// PTX: a conversion to an integer saturates, and NaN gives 0 (32 bits and
// less) or the most negative (64 bits).
template <typename Int>
uint64_t Saturate(double x) {
  if (std::isnan(x)) return sizeof(Int) == 8 ? uint64_t{1} << 63 : 0;
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

using HostFunction = uint64_t (*)(uint64_t, uint64_t, uint64_t);

struct Instruction {
  const char* id;
  const char* ptx;
  Kind from;
  Kind to;
  int operands;
  HostFunction host;
  const char* rule;
  // Inputs where PTX fixes no result: they are shown, not compared.
  bool (*undefined)(uint64_t, uint64_t) = nullptr;
};

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

constexpr Instruction kInstructions[] = {
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
     PARTITA_HOST(Out(Least(F32(a), F32(b)))),
     "-0 < +0; a NaN operand gives the other"},
    {"max_f32", "max.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(Greatest(F32(a), F32(b)))),
     "-0 < +0; a NaN operand gives the other"},
    {"min_nan_f32", "min.NaN.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(NaNOr(F32(a), F32(b), Least(F32(a), F32(b))))),
     "-0 < +0; a NaN operand gives NaN"},
    {"max_nan_f32", "max.NaN.f32", Kind::kF32, Kind::kF32, 2,
     PARTITA_HOST(Out(NaNOr(F32(a), F32(b), Greatest(F32(a), F32(b))))),
     "-0 < +0; a NaN operand gives NaN"},
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
     PARTITA_HOST(Out(F64(a) + F64(b))), kRounded},
    {"mul_f64", "mul.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) * F64(b))), kRounded},
    {"fma_f64", "fma.rn.f64", Kind::kF64, Kind::kF64, 3,
     PARTITA_HOST(Out(std::fma(F64(a), F64(b), F64(c)))), kRounded},
    {"div_f64", "div.rn.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(F64(a) / F64(b))), kRounded},
    {"sqrt_f64", "sqrt.rn.f64", Kind::kF64, Kind::kF64, 1,
     PARTITA_HOST(Out(std::sqrt(F64(a)))), kRounded},
    {"min_f64", "min.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(Least(F64(a), F64(b)))),
     "-0 < +0; a NaN operand gives the other"},
    {"max_f64", "max.f64", Kind::kF64, Kind::kF64, 2,
     PARTITA_HOST(Out(Greatest(F64(a), F64(b)))),
     "-0 < +0; a NaN operand gives the other"},
    {"f32_from_f64", "cvt.rn.f32.f64", Kind::kF64, Kind::kF32, 1,
     PARTITA_HOST(Out(static_cast<float>(F64(a)))), kRounded},
    {"f64_from_f32", "cvt.f64.f32", Kind::kF32, Kind::kF64, 1,
     PARTITA_HOST(Out(static_cast<double>(F32(a)))), "exact"},
    {"f16_from_f32", "cvt.rn.f16.f32", Kind::kF32, Kind::kF16, 1,
     PARTITA_HOST(ToF16(F32(a))), kRounded},
    {"f32_from_f16", "cvt.f32.f16", Kind::kF16, Kind::kF32, 1,
     PARTITA_HOST(Out(FromF16(a))), "exact"},
    {"bf16_from_f32", "cvt.rn.bf16.f32", Kind::kF32, Kind::kBF16, 1,
     PARTITA_HOST(ToBF16(F32(a))), kRounded},
    {"f32_from_bf16", "cvt.f32.bf16", Kind::kBF16, Kind::kF32, 1,
     PARTITA_HOST(Out(FromBF16(a))), "exact"},
    {"add_f16", "add.rn.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(FromF16(a) + FromF16(b))), kRounded},
    {"mul_f16", "mul.rn.f16", Kind::kF16, Kind::kF16, 2,
     PARTITA_HOST(ToF16(FromF16(a) * FromF16(b))), kRounded},
    {"s32_from_f32", "cvt.rzi.s32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(F32(a))), kSaturated},
    {"s32_rint_f32", "cvt.rni.s32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(std::nearbyint(F32(a)))), kSaturated},
    {"u32_from_f32", "cvt.rzi.u32.f32", Kind::kF32, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<uint32_t>(F32(a))), kSaturated},
    {"s64_from_f32", "cvt.rzi.s64.f32", Kind::kF32, Kind::kInt64, 1,
     PARTITA_HOST(Saturate<int64_t>(F32(a))),
     "out of range saturates, NaN gives the most negative"},
    {"s32_from_f64", "cvt.rzi.s32.f64", Kind::kF64, Kind::kInt32, 1,
     PARTITA_HOST(Saturate<int32_t>(F64(a))),
     "out of range saturates; of NaN from f64 the guide says another value"},
    {"s64_from_f64", "cvt.rzi.s64.f64", Kind::kF64, Kind::kInt64, 1,
     PARTITA_HOST(Saturate<int64_t>(F64(a))),
     "out of range saturates, NaN gives the most negative"},
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

std::vector<uint64_t> SpecialF32() {
  return {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
      0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3f800001,
      0x3f7fffff, 0x3fc00000, 0x40200000, 0xc0200000, 0x3f000000, 0xbf000000,
      0x3effffff, 0x3f000001, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x7f800000,
      0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345, 0x4effffff,
      0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000,
      0xdf000000, 0x5effffff, 0x5f800000, 0x3f808000, 0x3f818000, 0x3f808001,
      0x00008000, 0x00018000, 0x00000fff, 0x7f7f7fff, 0x7f7f8000, 0x477fe000,
      0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x33800000, 0x387fe000,
      0x387ff000, 0x38801000, 0x3a800fff, 0x1e3ce508, 0x60ad78ec, 0x2b8cbccc};
}

std::vector<uint64_t> SpecialsOf(Kind kind) {
  std::vector<uint64_t> values;
  switch (kind) {
    case Kind::kF32:
      return SpecialF32();
    case Kind::kF64:
      for (const uint64_t bits : SpecialF32()) {
        if (!std::isnan(F32(bits))) values.push_back(Out(double{F32(bits)}));
      }
      for (const uint64_t bits : std::initializer_list<uint64_t>{
               0x0000000000000001u, 0x000fffffffffffffu, 0x0010000000000000u,
               0x7fefffffffffffffu, 0x7ff8000000000000u, 0xfff8000000012345u,
               0x7ff0000000000001u, 0x3ff0000000000001u, 0x36a0000000000000u,
               0x369fffffffffffffu, 0x36a0000000000001u, 0x47efffffe0000000u,
               0x47efffffefffffffu, 0x47effffff0000000u, 0x3ff0000010000000u,
               0x3ff0000030000000u, 0xc1e0000000200000u, 0x41dfffffffc00000u}) {
        values.push_back(bits);
      }
      return values;
    case Kind::kF16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00,
              0x3c01, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
              0x7e00, 0xfe12, 0x7c01, 0xfd55, 0x3555, 0x1400, 0x5000};
    case Kind::kBF16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0x3f81,
              0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81};
    case Kind::kInt32:
      return {0,          1,          2,          3,          7,
              10,         31,         32,         33,         63,
              64,         255,        256,        0x7fffffff, 0x80000000,
              0x80000001, 0xffffffff, 0xfffffffe, 0xfffffff9, 0x00ffffff,
              0x01000000, 0x01000001, 0x01000002, 0x01000003};
    case Kind::kInt64:
      return {0,
              1,
              0xffffffffffffffffu,
              0x7fffffffffffffffu,
              0x8000000000000000u,
              0x8000000000000001u,
              0x0000000001000001u,
              0x0000000001000003u,
              0x0020000000000001u,
              0x0020000000000003u,
              0x8000008000000000u,
              0x8000008000000001u,
              0xffffff8000000000u,
              0xffffff7fffffffffu,
              0x4000004000000000u,
              0x4000004000000001u};
  }
  return values;
}

struct Inputs {
  std::vector<uint64_t> words;  // three a case
  size_t cases() const { return words.size() / 3; }
  void Add(uint64_t a, uint64_t b, uint64_t c) {
    words.insert(words.end(), {a, b, c});
  }
};

// Every pair of special values, triples of every third, and random bits.
Inputs InputsOf(const Instruction& instruction) {
  const std::vector<uint64_t> values = SpecialsOf(instruction.from);
  Inputs inputs;
  const size_t step = instruction.operands == 3 ? 3 : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (instruction.operands == 1) {
      inputs.Add(values[i], 0, 0);
      continue;
    }
    for (size_t j = 0; j < values.size(); j += step) {
      if (instruction.operands == 2) {
        inputs.Add(values[i], values[j], 0);
        continue;
      }
      for (size_t k = 0; k < values.size(); k += step) {
        inputs.Add(values[i], values[j], values[k]);
      }
    }
  }
  const uint64_t mask =
      BytesOf(instruction.from) == 8
          ? ~uint64_t{0}
          : (uint64_t{1} << (8 * BytesOf(instruction.from))) - 1;
  uint64_t state = 42;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((state >> 32) | (state << 32)) & mask;
  };
  for (int i = 0; i < 20000; ++i) {
    const uint64_t a = next();
    const uint64_t b = next();
    inputs.Add(a, b, next());
  }
  return inputs;
}

const char* RegisterOf(Kind kind) {
  switch (BytesOf(kind)) {
    case 2:
      return "b16";
    case 4:
      return kind == Kind::kF32 ? "f32" : "b32";
    default:
      return kind == Kind::kF64 ? "f64" : "b64";
  }
}

// Moves the low bytes of the 64-bit register `wide` to `narrow`, or back.
std::string Narrow(Kind kind, const char* narrow, const char* wide) {
  switch (BytesOf(kind)) {
    case 2:
      return absl::StrFormat("cvt.u16.u64 %s, %s;", narrow, wide);
    case 4:
      return absl::StrFormat("cvt.u32.u64 %%w, %s; mov.b32 %s, %%w;", wide,
                             narrow);
    default:
      return absl::StrFormat("mov.b64 %s, %s;", narrow, wide);
  }
}

std::string Widen(Kind kind, const char* wide, const char* narrow) {
  switch (BytesOf(kind)) {
    case 2:
      return absl::StrFormat("cvt.u64.u16 %s, %s;", wide, narrow);
    case 4:
      return absl::StrFormat("mov.b32 %%w, %s; cvt.u64.u32 %s, %%w;", narrow,
                             wide);
    default:
      return absl::StrFormat("mov.b64 %s, %s;", wide, narrow);
  }
}

// to[i] = instruction(from[3i], from[3i + 1], from[3i + 2])
std::string KernelText(const Instruction& instruction) {
  static constexpr const char* kOperands[] = {"", ", %a", ", %a, %b",
                                              ", %a, %b, %c"};
  return absl::StrFormat(
      R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry run(.param .u64 to, .param .u64 from, .param .u32 n) {
  .reg .u64 %%t, %%f, %%o, %%x, %%y, %%z;
  .reg .u32 %%i, %%n, %%d, %%k, %%w;
  .reg .pred %%p;
  .reg .%s %%a, %%b, %%c;
  .reg .%s %%r;
  ld.param.u64 %%t, [to];
  ld.param.u64 %%f, [from];
  ld.param.u32 %%n, [n];
  mov.u32 %%i, %%tid.x;
  mov.u32 %%d, %%ntid.x;
  mov.u32 %%k, %%ctaid.x;
  mad.lo.u32 %%i, %%k, %%d, %%i;
  setp.ge.u32 %%p, %%i, %%n;
  @%%p bra done;
  mul.wide.u32 %%o, %%i, 24;
  add.u64 %%f, %%f, %%o;
  ld.global.u64 %%x, [%%f];
  ld.global.u64 %%y, [%%f+8];
  ld.global.u64 %%z, [%%f+16];
  %s
  %s
  %s
  %s %%r%s;
  %s
  mul.wide.u32 %%o, %%i, 8;
  add.u64 %%t, %%t, %%o;
  st.global.u64 [%%t], %%x;
done:
  ret;
}
)",
      RegisterOf(instruction.from), RegisterOf(instruction.to),
      Narrow(instruction.from, "%a", "%x"),
      Narrow(instruction.from, "%b", "%y"),
      Narrow(instruction.from, "%c", "%z"), instruction.ptx,
      kOperands[instruction.operands], Widen(instruction.to, "%x", "%r"));
}

absl::StatusOr<std::vector<uint64_t>> RunOnGpu(const Gpu& gpu,
                                               const Instruction& instruction,
                                               const Inputs& inputs) {
  const DriverApi& api = gpu.api();
  const std::string text = KernelText(instruction);
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, text.c_str()));
  CUkernel kernel = nullptr;
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.LibraryGetKernel(&kernel, library.get(), "run"), "run"));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  std::vector<uint64_t> results(inputs.cases());
  PARTITA_ASSIGN_OR_RETURN(DeviceMemory from,
                           NewDeviceMemory(api, inputs.words.size() * 8));
  PARTITA_ASSIGN_OR_RETURN(DeviceMemory to,
                           NewDeviceMemory(api, results.size() * 8));
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      api.MemcpyHtoD(from.get(), inputs.words.data(), inputs.words.size() * 8),
      "cuMemcpyHtoD"));
  CUdeviceptr to_address = to.get();
  CUdeviceptr from_address = from.get();
  uint32_t count = static_cast<uint32_t>(results.size());
  void* parameters[] = {&to_address, &from_address, &count};
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(gpu.LaunchKernel(stream.get(), kernel,
                                  {(count + 127) / 128, 128}, parameters),
                 "cuLaunchKernel"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.StreamSynchronize(stream.get()), "cuStreamSynchronize"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.MemcpyDtoH(results.data(), to.get(), results.size() * 8),
                 "cuMemcpyDtoH"));
  return results;
}

bool IsNaN(Kind kind, uint64_t bits) {
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

std::string CaseText(const Instruction& instruction, const uint64_t* in,
                     uint64_t gpu) {
  std::string text;
  for (int i = 0; i < instruction.operands; ++i) {
    absl::StrAppendFormat(&text, "%s%x", i == 0 ? "" : ",", in[i]);
  }
  return absl::StrFormat("(%s)=%x", text, gpu);
}

// The bits of NaN results, with how often and one example.
class NaNBits {
 public:
  void Add(uint64_t bits, std::string example) {
    auto& [count, text] = seen_[bits];
    if (++count == 1) text = std::move(example);
  }
  std::string Text() const {
    if (seen_.empty()) return "no NaN";
    std::string text = absl::StrCat(seen_.size(), " kinds of NaN:");
    int shown = 0;
    for (const auto& [bits, seen] : seen_) {
      if (++shown > 4) break;
      absl::StrAppendFormat(&text, " %x x%d e.g. %s", bits, seen.first,
                            seen.second);
    }
    return text;
  }

 private:
  std::map<uint64_t, std::pair<int, std::string>> seen_;
};

absl::StatusOr<Reading> Compare(Gpu& gpu, const Instruction& instruction) {
  const Inputs inputs = InputsOf(instruction);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<uint64_t> results,
                           RunOnGpu(gpu, instruction, inputs));
  size_t equal = 0;
  size_t compared = 0;
  NaNBits nans;
  std::string differing;
  std::string undefined;
  int undefined_shown = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const uint64_t* in = &inputs.words[3 * i];
    const std::string text = CaseText(instruction, in, results[i]);
    if (instruction.undefined != nullptr &&
        instruction.undefined(in[0], in[1])) {
      if (++undefined_shown <= 8) absl::StrAppend(&undefined, " ", text);
      continue;
    }
    ++compared;
    const uint64_t host = instruction.host(in[0], in[1], in[2]);
    const bool gpu_nan = IsNaN(instruction.to, results[i]);
    if (gpu_nan) nans.Add(results[i], text);
    if (gpu_nan ? IsNaN(instruction.to, host) : results[i] == host) {
      ++equal;
    } else if (differing.size() < 300) {
      absl::StrAppendFormat(&differing, " %s host %x", text, host);
    }
  }
  Steps steps(gpu.api());
  steps.Is("cases equal to the host's (NaN equals NaN)", equal, compared);
  if (!differing.empty()) steps.Note(absl::StrCat("differing:", differing));
  if (!undefined.empty()) steps.Note(absl::StrCat("unspecified:", undefined));
  steps.Note(nans.Text());
  return steps.End();
}

template <size_t index>
absl::StatusOr<Reading> MeasureInstruction(Gpu& gpu) {
  return Compare(gpu, kInstructions[index]);
}

constexpr size_t kCount = std::size(kInstructions);

// The ids, which facts point to.
const std::array<std::string, kCount>& Ids() {
  static const auto* ids = [] {
    auto* made = new std::array<std::string, kCount>;
    for (size_t i = 0; i < kCount; ++i) {
      (*made)[i] = absl::StrCat("number.", kInstructions[i].id);
    }
    return made;
  }();
  return *ids;
}

template <size_t... index>
std::array<Fact, kCount> MakeFacts(std::index_sequence<index...>) {
  return {Fact{Ids()[index].c_str(), kInstructions[index].rule,
               "PTX ISA, instruction set", kInstructions[index].ptx,
               MeasureInstruction<index>}...};
}

}  // namespace

FactGroup NumberFacts() {
  static const auto* facts = new std::array<Fact, kCount>(
      MakeFacts(std::make_index_sequence<kCount>()));
  return {"number", *facts};
}

}  // namespace partita
