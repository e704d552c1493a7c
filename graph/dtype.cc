// Names and sizes of the element types.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dtype.h"

#include <array>

namespace partita {
namespace {

struct Row {
  absl::string_view name;
  int bits;
};

// In the order of the enumeration.
constexpr std::array<Row, kNumDTypes> kRows = {{{"f64", 64},
                                                {"f32", 32},
                                                {"f16", 16},
                                                {"bf16", 16},
                                                {"i64", 64},
                                                {"i32", 32},
                                                {"i16", 16},
                                                {"i8", 8},
                                                {"u8", 8},
                                                {"u16", 16},
                                                {"u32", 32},
                                                {"u64", 64},
                                                {"bool", 8}}};

}  // namespace

int BitsOf(DType dtype) { return kRows[static_cast<int>(dtype)].bits; }

absl::string_view DTypeName(DType dtype) {
  return kRows[static_cast<int>(dtype)].name;
}

std::optional<DType> ParseDType(absl::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool IsFloat(DType dtype) { return dtype <= DType::kBF16; }

bool IsSignedInteger(DType dtype) {
  return dtype >= DType::kI64 && dtype <= DType::kI8;
}

bool IsUnsignedInteger(DType dtype) {
  return dtype >= DType::kU8 && dtype <= DType::kU64;
}

}  // namespace partita
