// Philox4x32-10, a counter-based random generator (Salmon et al. 2011, Parallel
// random numbers: as easy as 1, 2, 3).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_PHILOX_H_
#define PARTITA_GRAPH_OPS_PHILOX_H_

#include <array>
#include <cstdint>

namespace partita {

// Four random words of a counter and a key, without state.
constexpr std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter,
                                         std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_PHILOX_H_
