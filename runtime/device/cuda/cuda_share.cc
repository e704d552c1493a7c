// Counts the bytes of a share's arenas.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_share.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// An arena that gives its bytes back to the share after the driver.
class ShareArena : public Arena {
 public:
  ShareArena(std::unique_ptr<Arena> arena, std::shared_ptr<CudaShare> share)
      : arena_(std::move(arena)), share_(std::move(share)) {}
  ~ShareArena() override {
    const int64_t bytes = ReservedBytes();
    arena_.reset();
    share_->GiveBack(bytes);
  }
  std::byte* base() const override { return arena_->base(); }
  int64_t size() const override { return arena_->size(); }
  int64_t CommittedBytes() const override { return arena_->CommittedBytes(); }
  int64_t ReservedBytes() const override { return arena_->ReservedBytes(); }

 private:
  std::unique_ptr<Arena> arena_;
  const std::shared_ptr<CudaShare> share_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<CudaShare>> CudaShare::Of(SharedContext context,
                                                         int ordinal,
                                                         GpuSplit split) {
  PARTITA_ASSIGN_OR_RETURN(const MemoryFigures all, MemoryOf(*context));
  return std::shared_ptr<CudaShare>(new CudaShare(
      std::move(context),
      absl::StrCat("one of ", split.shares, " shares of GPU ", ordinal), split,
      split.BytesOf(all.free)));
}

int64_t CudaShare::Left() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return limit_ - used_;
}

absl::StatusOr<MemoryFigures> CudaShare::Figures() const {
  PARTITA_ASSIGN_OR_RETURN(const MemoryFigures all, MemoryOf(*context_));
  return MemoryFigures{.total = split_.BytesOf(all.total),
                       .free = std::min(Left(), all.free),
                       .share = name_};
}

absl::Status CudaShare::Take(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > limit_ - used_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "found an arena of ", bytes, " bytes; expected at most the ",
        limit_ - used_, " that are free of ", name_, ", which has ", limit_));
  }
  used_ += bytes;
  return absl::OkStatus();
}

void CudaShare::GiveBack(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_ -= bytes;
}

absl::StatusOr<std::unique_ptr<Arena>> NewArenaOfShare(
    std::shared_ptr<CudaShare> share, const std::string& owner, int64_t bytes,
    int64_t alignment) {
  PARTITA_RETURN_IF_ERROR(CheckArenaRequest(owner, bytes, alignment));
  const int64_t reserved = ReservedOfCudaArena(bytes, alignment);
  if (const absl::Status taken = share->Take(reserved); !taken.ok()) {
    return absl::Status(taken.code(),
                        absl::StrCat("device ", owner, ": ", taken.message()));
  }
  absl::StatusOr<std::unique_ptr<Arena>> arena =
      NewCudaArena(share->context(), owner, bytes, alignment);
  if (!arena.ok()) {
    share->GiveBack(reserved);
    return arena.status();
  }
  return std::make_unique<ShareArena>(*std::move(arena), std::move(share));
}

}  // namespace partita
