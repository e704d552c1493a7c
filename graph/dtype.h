// The element types of tensors.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DTYPE_H_
#define PARTITA_GRAPH_DTYPE_H_

#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "graph/half.h"

namespace partita {

enum class DType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
};
inline constexpr int kNumDTypes = 13;

// Size of one element in bits; a bool takes eight.
int BitsOf(DType dtype);

// The spelling of the textual IR: "f32", "i64", "bool", ...
absl::string_view DTypeName(DType dtype);
std::optional<DType> ParseDType(absl::string_view name);

// A bool is none of these.
bool IsFloat(DType dtype);
bool IsSignedInteger(DType dtype);
bool IsUnsignedInteger(DType dtype);

// Names a C++ type for a visitor of VisitDType.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls `visit(TypeTag<T>{})` with the C++ type that holds an element of
// `dtype`: double, float, Half, BFloat16, the fixed-width integers, or bool.
template <typename Visitor>
constexpr auto VisitDType(DType dtype, Visitor&& visit) {
  switch (dtype) {
    case DType::kF64:
      return visit(TypeTag<double>{});
    case DType::kF32:
      return visit(TypeTag<float>{});
    case DType::kF16:
      return visit(TypeTag<Half>{});
    case DType::kBF16:
      return visit(TypeTag<BFloat16>{});
    case DType::kI64:
      return visit(TypeTag<int64_t>{});
    case DType::kI32:
      return visit(TypeTag<int32_t>{});
    case DType::kI16:
      return visit(TypeTag<int16_t>{});
    case DType::kI8:
      return visit(TypeTag<int8_t>{});
    case DType::kU8:
      return visit(TypeTag<uint8_t>{});
    case DType::kU16:
      return visit(TypeTag<uint16_t>{});
    case DType::kU32:
      return visit(TypeTag<uint32_t>{});
    case DType::kU64:
      return visit(TypeTag<uint64_t>{});
    case DType::kBool:
      break;
  }
  return visit(TypeTag<bool>{});
}

// The DType whose elements VisitDType hands over as `T`. Does not compile for
// other types: the search does not end.
template <typename T>
consteval DType DTypeOf() {
  int i = 0;
  while (!VisitDType(static_cast<DType>(i), []<typename E>(TypeTag<E>) {
    return std::is_same_v<E, T>;
  })) {
    ++i;
  }
  return static_cast<DType>(i);
}

}  // namespace partita

#endif  // PARTITA_GRAPH_DTYPE_H_
