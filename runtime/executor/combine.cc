// One reduction loop, instantiated for each element type and reduction.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/combine.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "graph/half.h"

namespace partita {
namespace {

// Elements that are reduced before any is written: the block fits the L1 cache.
constexpr int64_t kBlock = 512;

template <typename T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>,
                       float, T>;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(static_cast<Unsigned>(a) +
                                                  static_cast<Unsigned>(b)));
    } else {
      return a + b;
    }
  }
};

struct Greater {
  template <typename T>
  T operator()(T a, T b) const {
    if (a != a) return a;
    return b != b || b > a ? b : a;
  }
};

struct Less {
  template <typename T>
  T operator()(T a, T b) const {
    if (a != a) return a;
    return b != b || b < a ? b : a;
  }
};

struct BitAnd {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a & b; }
};

struct BitOr {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a | b; }
};

// A plan need not align buffers for their element types.
template <typename T>
Accumulator<T> Load(const std::byte* bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return static_cast<Accumulator<T>>(value);
}

// Reduces `count` elements from `at` bytes on. A constant `count` lets the
// compiler vectorize the loops.
template <typename T, typename Operation>
[[gnu::always_inline]] inline void CombineBlock(
    absl::Span<const std::byte* const> summands, int64_t at, int64_t count,
    T* block) {
  Accumulator<T> reduced[kBlock];
  for (int64_t i = 0; i < count; ++i) reduced[i] = Load<T>(summands[0] + at, i);
  for (const std::byte* summand : summands.subspan(1)) {
    for (int64_t i = 0; i < count; ++i) {
      reduced[i] = Operation()(reduced[i], Load<T>(summand + at, i));
    }
  }
  for (int64_t i = 0; i < count; ++i) block[i] = static_cast<T>(reduced[i]);
}

template <typename T, typename Operation>
void Combine(absl::Span<const std::byte* const> summands, int64_t offset,
             absl::Span<std::byte* const> outs, int64_t out_offset,
             int64_t elements) {
  T block[kBlock];
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t count = std::min(kBlock, elements - begin);
    const int64_t at = begin * sizeof(T);
    if (count == kBlock) {
      CombineBlock<T, Operation>(summands, offset + at, kBlock, block);
    } else {
      CombineBlock<T, Operation>(summands, offset + at, count, block);
    }
    for (std::byte* out : outs) {
      std::memcpy(out + out_offset + at, block, count * sizeof(T));
    }
  }
}

template <typename T>
CombineFunction CombineOfNumbers(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return Combine<T, Sum>;
    case Reduction::kMax:
      return Combine<T, Greater>;
    case Reduction::kMin:
      return Combine<T, Less>;
    default:
      return nullptr;
  }
}

// A bool is a byte, 0 or 1.
CombineFunction CombineOfBools(Reduction reduction) {
  switch (reduction) {
    case Reduction::kAnd:
    case Reduction::kMin:
      return Combine<uint8_t, BitAnd>;
    case Reduction::kOr:
    case Reduction::kMax:
      return Combine<uint8_t, BitOr>;
    default:
      return nullptr;
  }
}

CombineFunction Find(DType dtype, Reduction reduction) {
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return CombineOfBools(reduction);
    } else {
      return CombineOfNumbers<T>(reduction);
    }
  });
}

}  // namespace

absl::StatusOr<CombineFunction> FindCombine(DType dtype, Reduction reduction) {
  const CombineFunction combine = Find(dtype, reduction);
  if (combine != nullptr) return combine;
  return absl::UnimplementedError(absl::StrCat(
      "found partial results of ", DTypeName(dtype), " to reduce by ",
      ReductionName(reduction),
      "; expected sum, max or min of numbers, or and, or, max, min of bools"));
}

}  // namespace partita
