// Virtual devices for plans that may do anything: their arenas have margins.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_MUTANTS_MARGIN_DEVICE_H_
#define PARTITA_TESTS_MUTANTS_MARGIN_DEVICE_H_

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.h"

namespace partita {

// Bytes before and behind each arena: what a plan touches there is caught.
inline constexpr int64_t kMargin = 4096;

void FillWithJunk(absl::Span<std::byte> bytes, std::mt19937& random);

// A virtual device that has no more memory than the plan says, all of it junk
// when an arena is made.
class MarginDevice : public Device {
 public:
  explicit MarginDevice(const PlanDevice& device);

  const DeviceTraits& traits() const override { return played_->traits(); }
  bool is_host() const override { return false; }
  bool is_virtual() const override { return true; }
  bool is_timed() const override { return false; }
  // ResourceExhausted beyond the device's memory.
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override;
  std::unique_ptr<DeviceStream> NewStream() override {
    return played_->NewStream();
  }
  std::unique_ptr<DeviceEvent> NewEvent() override {
    return played_->NewEvent();
  }
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    return played_->Upload(to, from, bytes);
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    return played_->Download(to, from, bytes);
  }

  // Of the arena made last.
  std::byte* base() const { return base_; }
  // Other junk in the margins than before.
  void RenewMargins(std::mt19937& random);
  // True if the margins still are as they were made last.
  bool MarginsAreWhole() const;

 private:
  absl::Span<std::byte> Before() const { return {base_ - kMargin, kMargin}; }
  absl::Span<std::byte> Behind() const { return {base_ + size_, kMargin}; }

  const std::unique_ptr<Device> played_;
  const int64_t memory_;
  std::byte* base_ = nullptr;
  int64_t size_ = 0;
  std::vector<std::byte> margins_;  // before, then behind, as made
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_MARGIN_DEVICE_H_
