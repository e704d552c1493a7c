// Host memory that is reserved whole and committed when accessed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_HOST_ARENA_H_
#define PARTITA_RUNTIME_DEVICE_HOST_ARENA_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace partita {

class HostArena : public Arena {
 public:
  // ResourceExhausted if the address space cannot hold it. `owner` names the
  // device in messages. `guarded` poisons undeclared bytes, and the bytes
  // around the arena, if guards work.
  static absl::StatusOr<std::unique_ptr<HostArena>> New(
      const std::string& owner, int64_t bytes, int64_t alignment, bool guarded);
  ~HostArena() override;

  std::byte* base() const override { return base_; }
  int64_t size() const override { return size_; }
  int64_t CommittedBytes() const override;
  int64_t ReservedBytes() const override { return mapped_bytes_; }
  ArenaGuard* guard() override {
    return guard_.has_value() ? &*guard_ : nullptr;
  }

 private:
  HostArena() = default;
  std::byte* mapping_ = nullptr;
  int64_t mapped_bytes_ = 0;
  std::byte* base_ = nullptr;
  int64_t size_ = 0;
  std::optional<ArenaGuard> guard_;
};

// Bytes of physical memory available for new arenas, or -1 if the host does not
// report it.
int64_t AvailableHostMemory();

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_HOST_ARENA_H_
