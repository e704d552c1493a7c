// Arenas between two margins of junk.
// SPDX-License-Identifier: Apache-2.0

#include "tests/mutants/margin_device.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/round_up.h"
#include "runtime/device/host_device.h"

namespace partita {
namespace {

class MarginArena : public Arena {
 public:
  MarginArena(int64_t bytes, int64_t alignment)
      : storage_(bytes + 2 * kMargin + alignment), size_(bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(storage_.data()) + kMargin;
    const uintptr_t aligned = RoundUp(begin, alignment);
    base_ = storage_.data() + kMargin + (aligned - begin);
  }

  std::byte* base() const override { return base_; }
  int64_t size() const override { return size_; }
  int64_t CommittedBytes() const override { return size_; }
  int64_t ReservedBytes() const override {
    return static_cast<int64_t>(storage_.size());
  }

 private:
  std::vector<std::byte> storage_;
  const int64_t size_;
  std::byte* base_;
};

}  // namespace

void FillWithJunk(absl::Span<std::byte> bytes, std::mt19937& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

MarginDevice::MarginDevice(const PlanDevice& device)
    : device_(NewVirtualDevice(device.traits)), memory_(device.memory) {}

absl::StatusOr<std::unique_ptr<Arena>> MarginDevice::NewArena(
    int64_t bytes, int64_t alignment) {
  if (bytes > memory_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(traits().name, ": found an arena of ", bytes,
                     " bytes; expected at most ", memory_));
  }
  auto arena = std::make_unique<MarginArena>(bytes, alignment);
  base_ = arena->base();
  size_ = bytes;
  std::mt19937 random(7);
  FillWithJunk({base_, static_cast<size_t>(size_)}, random);
  RenewMargins(random);
  return std::unique_ptr<Arena>(std::move(arena));
}

void MarginDevice::RenewMargins(std::mt19937& random) {
  FillWithJunk(Before(), random);
  FillWithJunk(After(), random);
  margins_.assign(Before().begin(), Before().end());
  margins_.insert(margins_.end(), After().begin(), After().end());
}

bool MarginDevice::MarginsAreWhole() const {
  return std::equal(Before().begin(), Before().end(), margins_.begin()) &&
         std::equal(After().begin(), After().end(), margins_.begin() + kMargin);
}

}  // namespace partita
