// Compiles one loop for several instruction sets and calls the widest that this
// processor has.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_VECTOR_CODE_H_
#define PARTITA_KERNELS_VECTOR_VECTOR_CODE_H_

namespace partita {

// Loop::Run and everything that it calls must be [[gnu::always_inline]]; only
// then are they compiled again in each of these functions.
template <typename Loop, typename... Args>
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] void RunAvx512(
    Args... args) {
  Loop::Run(args...);
}

template <typename Loop, typename... Args>
[[gnu::target("avx2,fma")]] void RunAvx2(Args... args) {
  Loop::Run(args...);
}

// The instruction sets that graph/instruction_set.h lets this process use.
bool HasAvx512();

// Both instruction sets have fused multiply-add.
bool HasAvx2();

// One loop for vectors of 16 floats, another for shorter ones.
template <typename Wide, typename Narrow, typename... Args>
void RunByWidth(Args... args) {
  if (HasAvx512()) {
    RunAvx512<Wide>(args...);
  } else if (HasAvx2()) {
    RunAvx2<Narrow>(args...);
  } else {
    Narrow::Run(args...);
  }
}

template <typename Loop, typename... Args>
void RunVectorised(Args... args) {
  RunByWidth<Loop, Loop>(args...);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_VECTOR_CODE_H_
