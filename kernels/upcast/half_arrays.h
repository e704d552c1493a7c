// Converts arrays of 16-bit floats to f32 and back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_UPCAST_HALF_ARRAYS_H_
#define PARTITA_KERNELS_UPCAST_HALF_ARRAYS_H_

#include <cstdint>

#include "graph/dtype.h"

namespace partita {

// For `count` elements; `dtype` is kBF16 or kF16. Exact.
void Upcast(DType dtype, const void* from, float* to, int64_t count,
            int threads);

// Each rounded once, to nearest even, like BFloat16 and Half (graph/half.h).
void Narrow(DType dtype, const float* from, void* to, int64_t count,
            int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_UPCAST_HALF_ARRAYS_H_
