// Elements of a program's operands and results, as bits.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_MEMORY_ELEMENT_H_
#define PARTITA_KERNELS_CODEGEN_MEMORY_ELEMENT_H_

#include <cstdint>
#include <cstring>

#include "kernels/codegen/program.h"

namespace partita {

inline uint64_t ReadElement(ScalarType type, const void* elements,
                            int64_t offset) {
  const int64_t size = BytesOf(type);
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(elements) + offset * size,
              static_cast<size_t>(size));
  return value;
}

inline void WriteElement(ScalarType type, void* elements, int64_t offset,
                         uint64_t value) {
  const int64_t size = BytesOf(type);
  std::memcpy(static_cast<char*>(elements) + offset * size, &value,
              static_cast<size_t>(size));
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_MEMORY_ELEMENT_H_
