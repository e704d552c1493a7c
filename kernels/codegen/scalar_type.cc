// A table.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/scalar_type.h"

namespace partita {

std::optional<ScalarType> ScalarTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return ScalarType::kF32;
    case DType::kF64:
      return ScalarType::kF64;
    case DType::kI32:
      return ScalarType::kI32;
    case DType::kI64:
      return ScalarType::kI64;
    case DType::kU64:
      return ScalarType::kU64;
    case DType::kBool:
      return ScalarType::kBool;
    case DType::kBF16:
      return ScalarType::kBF16;
    case DType::kF16:
      return ScalarType::kF16;
    default:
      return std::nullopt;
  }
}

}  // namespace partita
