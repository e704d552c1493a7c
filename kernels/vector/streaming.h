// Which results bypass the caches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_STREAMING_H_
#define PARTITA_KERNELS_VECTOR_STREAMING_H_

#include <cstdint>

namespace partita {

// Results with at least this many bytes. If two cores share a last-level cache
// of 32 MiB, ResNet-18 trains faster than with a larger bound or none: lines
// are not read before they are written, and other values stay in the cache.
inline constexpr int64_t kLeastStreamedBytes = int64_t{4} << 20;

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_STREAMING_H_
