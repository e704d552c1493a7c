// The bytes of an element.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/constant_bits.h"

#include <cstdint>
#include <cstring>

#include "kernels/op_programs/index_node.h"

namespace partita {

Register BitsOfNumber(const IndexReader& read, const Number& number,
                      DType dtype) {
  uint64_t bits = 0;
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = number.To<T>();
    std::memcpy(&bits, &value, sizeof value);
  });
  return read.Bits(BitsTypeOf(dtype), bits);
}

}  // namespace partita
