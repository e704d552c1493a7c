// Memory of a GPU, and memory of the host that it copies from and to.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/device.h"

namespace partita {

using SharedContext = std::shared_ptr<const CudaContext>;

// The memory of the context's GPU, as the driver reports it.
absl::StatusOr<MemoryFigures> MemoryOf(const CudaContext& context);

// Arena::ReservedBytes of such an arena.
int64_t ReservedOfCudaArena(int64_t bytes, int64_t alignment);

// By cuMemAlloc. It is freed when all work of the context is done. `owner`
// names the device in messages. ResourceExhausted, with both figures, if there
// is not enough memory.
absl::StatusOr<std::unique_ptr<Arena>> NewCudaArena(SharedContext context,
                                                    const std::string& owner,
                                                    int64_t bytes,
                                                    int64_t alignment);

// Page-locked, for all GPUs.
absl::StatusOr<std::unique_ptr<Arena>> NewPinnedArena(SharedContext context,
                                                      const std::string& owner,
                                                      int64_t bytes);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_MEMORY_H_
