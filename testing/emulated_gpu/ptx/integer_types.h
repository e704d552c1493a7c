// The host's integer type of a type of PTX.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_INTEGER_TYPES_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_INTEGER_TYPES_H_

#include <cstdint>

#include "testing/emulated_gpu/ptx/instruction_set.h"

namespace partita::ptx {

template <typename T>
struct Tag {
  using type = T;
};

// visit(Tag<int32_t>()) for .s32; types of bits are unsigned. Null for others.
template <typename Visitor>
Evaluate VisitInteger(Type type, Visitor&& visit) {
  switch (type) {
    case Type::kS8:
      return visit(Tag<int8_t>{});
    case Type::kS16:
      return visit(Tag<int16_t>{});
    case Type::kS32:
      return visit(Tag<int32_t>{});
    case Type::kS64:
      return visit(Tag<int64_t>{});
    case Type::kB8:
    case Type::kU8:
      return visit(Tag<uint8_t>{});
    case Type::kB16:
    case Type::kU16:
      return visit(Tag<uint16_t>{});
    case Type::kB32:
    case Type::kU32:
      return visit(Tag<uint32_t>{});
    case Type::kB64:
    case Type::kU64:
      return visit(Tag<uint64_t>{});
    default:
      return nullptr;
  }
}

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_INTEGER_TYPES_H_
