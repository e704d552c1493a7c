// A table.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/scalar_type.h"

namespace partita {

ScalarType ScalarTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return ScalarType::kF64;
    case DType::kF32:
      return ScalarType::kF32;
    case DType::kF16:
      return ScalarType::kF16;
    case DType::kBF16:
      return ScalarType::kBF16;
    case DType::kI64:
      return ScalarType::kI64;
    case DType::kI32:
      return ScalarType::kI32;
    case DType::kI16:
      return ScalarType::kI16;
    case DType::kI8:
      return ScalarType::kI8;
    case DType::kU8:
      return ScalarType::kU8;
    case DType::kU16:
      return ScalarType::kU16;
    case DType::kU32:
      return ScalarType::kU32;
    case DType::kU64:
      return ScalarType::kU64;
    case DType::kBool:
      break;
  }
  return ScalarType::kBool;
}

}  // namespace partita
