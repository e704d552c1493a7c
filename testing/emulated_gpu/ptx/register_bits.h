// Values of the host's types as the bits of a register.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_BITS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_BITS_H_

#include <cstdint>
#include <cstring>

namespace partita::ptx {

template <typename T>
T As(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <typename T>
uint64_t Bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// All ones except the sign. uint16_t stands for f16 and bf16.
template <typename T>
inline constexpr uint64_t kCanonicalNan = ~uint64_t{0} >> (65 - 8 * sizeof(T));

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_REGISTER_BITS_H_
