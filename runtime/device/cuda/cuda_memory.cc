// Allocates, aligns and frees.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Of every address that cuMemAlloc returns (CUDA C++ Programming Guide, device
// memory accesses).
constexpr int64_t kDriverAlignment = 256;

std::byte* AddressOf(const GlobalMemory& memory) {
  return reinterpret_cast<std::byte*>(memory.get());
}
std::byte* AddressOf(const PinnedMemory& memory) {
  return static_cast<std::byte*>(memory.get());
}

// An arena without bytes has no memory.
template <typename Memory>
class CudaArena : public Arena {
 public:
  CudaArena(SharedContext context, Memory memory, int64_t size,
            int64_t alignment)
      : context_(std::move(context)),
        memory_(std::move(memory)),
        base_(AddressOf(memory_)),
        size_(size),
        reserved_(ReservedOfCudaArena(size, alignment)) {
    base_ += -reinterpret_cast<uintptr_t>(base_) &
             static_cast<uintptr_t>(alignment - 1);
  }
  ~CudaArena() override {
    context_->Release([this] {
      // After an error, work that uses the memory may still be going on.
      context_->Check(context_->api().CtxSynchronize(), "cuCtxSynchronize")
          .IgnoreError();
      memory_ = Memory();
    });
  }

  std::byte* base() const override { return base_; }
  int64_t size() const override { return size_; }
  int64_t CommittedBytes() const override { return size_; }
  int64_t ReservedBytes() const override { return reserved_; }

 private:
  const SharedContext context_;
  Memory memory_;
  std::byte* base_;
  const int64_t size_;
  const int64_t reserved_;
};

template <typename Memory, typename Allocate>
absl::StatusOr<std::unique_ptr<Arena>> NewArena(SharedContext context,
                                                int64_t bytes,
                                                int64_t alignment,
                                                Allocate allocate) {
  Memory memory;
  absl::Status status;
  if (bytes > 0) {
    const auto reserved =
        static_cast<size_t>(ReservedOfCudaArena(bytes, alignment));
    status = context->Within([&] {
      PARTITA_ASSIGN_OR_RETURN(memory, allocate(context->api(), reserved));
      return absl::OkStatus();
    });
  }
  // If only Leave failed there is memory, which the arena frees in its context.
  auto arena = std::make_unique<CudaArena<Memory>>(
      std::move(context), std::move(memory), bytes, alignment);
  PARTITA_RETURN_IF_ERROR(status);
  return arena;
}

absl::Status NoMemory(const CudaContext& context, const std::string& owner,
                      int64_t bytes, const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) {
    return absl::Status(status.code(),
                        absl::StrCat("device ", owner, ": an arena of ", bytes,
                                     " bytes: ", status.message()));
  }
  const absl::StatusOr<MemoryFigures> figures = MemoryOf(context);
  const std::string most =
      figures.ok() ? absl::StrCat("at most the ", figures->free,
                                  " that are free of ", figures->total)
                   : "fewer";
  return absl::Status(
      status.code(),
      absl::StrCat("device ", owner, ": found an arena of ", bytes,
                   " bytes; expected ", most, " (", status.message(), ")"));
}

}  // namespace

absl::StatusOr<MemoryFigures> MemoryOf(const CudaContext& context) {
  size_t free = 0;
  size_t total = 0;
  PARTITA_RETURN_IF_ERROR(context.Within([&] {
    return context.Check(context.api().MemGetInfo(&free, &total),
                         "cuMemGetInfo");
  }));
  return MemoryFigures{.total = static_cast<int64_t>(total),
                       .free = static_cast<int64_t>(free)};
}

int64_t ReservedOfCudaArena(int64_t bytes, int64_t alignment) {
  if (bytes == 0) return 0;
  return bytes + std::max<int64_t>(0, alignment - kDriverAlignment);
}

absl::StatusOr<std::unique_ptr<Arena>> NewCudaArena(SharedContext context,
                                                    const std::string& owner,
                                                    int64_t bytes,
                                                    int64_t alignment) {
  PARTITA_RETURN_IF_ERROR(CheckArenaRequest(owner, bytes, alignment));
  absl::StatusOr<std::unique_ptr<Arena>> arena =
      NewArena<GlobalMemory>(context, bytes, alignment, NewDeviceMemory);
  if (arena.ok()) return arena;
  return NoMemory(*context, owner, bytes, arena.status());
}

absl::StatusOr<std::unique_ptr<Arena>> NewPinnedArena(SharedContext context,
                                                      const std::string& owner,
                                                      int64_t bytes) {
  absl::StatusOr<std::unique_ptr<Arena>> arena = NewArena<PinnedMemory>(
      std::move(context), bytes, kDriverAlignment, NewPinnedMemory);
  if (arena.ok()) return arena;
  return absl::Status(
      arena.status().code(),
      absl::StrCat("device ", owner, ": found no page-locked memory of ", bytes,
                   " bytes for copies by way of the host (",
                   arena.status().message(), ")"));
}

}  // namespace partita
