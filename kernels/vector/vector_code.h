// One loop compiled for several instruction sets, the widest that this
// processor has being called.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_VECTOR_CODE_H_
#define PARTITA_KERNELS_VECTOR_VECTOR_CODE_H_

namespace partita {

// Loop::Run and all that it calls must be [[gnu::always_inline]]: only then
// are they compiled anew in each of these functions.
template <typename Loop, typename... Args>
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] void RunAvx512(
    Args... args) {
  Loop::Run(args...);
}

template <typename Loop, typename... Args>
[[gnu::target("avx2,fma")]] void RunAvx2(Args... args) {
  Loop::Run(args...);
}

// What graph/instruction_set.h lets this process use.
bool HasAvx512();

// Both instruction sets have multiplications with an addition, rounded once.
bool HasAvx2();

// One loop where vectors have 16 floats, another where they have less.
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
