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

// Bytes before and after each arena. Accesses of a plan there are detected.
inline constexpr int64_t kMargin = 4096;

void FillWithJunk(absl::Span<std::byte> bytes, std::mt19937& random);

// A virtual device with no more memory than the plan states. New arenas are
// filled with junk.
class MarginDevice : public Device {
 public:
  explicit MarginDevice(const PlanDevice& device);

  const DeviceTraits& traits() const override { return device_->traits(); }
  const DeviceProperties& properties() const override {
    return device_->properties();
  }
  // ResourceExhausted beyond the device's memory.
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    return device_->NewStream();
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    return device_->NewEvent();
  }
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    return device_->Upload(to, from, bytes);
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    return device_->Download(to, from, bytes);
  }

  // Of the arena that was made last.
  std::byte* base() const { return base_; }
  // Fills the margins with new junk.
  void RenewMargins(std::mt19937& random);
  // True if the margins are unchanged.
  bool MarginsAreWhole() const;

 private:
  absl::Span<std::byte> Before() const { return {base_ - kMargin, kMargin}; }
  absl::Span<std::byte> After() const { return {base_ + size_, kMargin}; }

  const std::unique_ptr<Device> device_;
  const int64_t memory_;
  std::byte* base_ = nullptr;
  int64_t size_ = 0;
  std::vector<std::byte> margins_;  // before, then after, as made
};

}  // namespace partita

#endif  // PARTITA_TESTS_MUTANTS_MARGIN_DEVICE_H_
