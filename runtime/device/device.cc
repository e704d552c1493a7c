// What devices have in common.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/device.h"

#include "absl/strings/str_cat.h"
#include "runtime/device/device_graph.h"

namespace partita {

// Values begin at cache lines.
int64_t StagedBytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }

absl::Status CheckArenaRequest(const std::string& owner, int64_t bytes,
                               int64_t alignment) {
  constexpr int64_t kMostBytes = int64_t{1} << 46;
  constexpr int64_t kMostAlignment = int64_t{2} << 20;
  if (bytes < 0 || bytes > kMostBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("device ", owner, ": found an arena of ", bytes,
                     " bytes; expected 0..", kMostBytes));
  }
  if (alignment <= 0 || (alignment & (alignment - 1)) != 0 ||
      alignment > kMostAlignment) {
    return absl::InvalidArgumentError(
        absl::StrCat("device ", owner, ": found base alignment ", alignment,
                     "; expected a power of two up to ", kMostAlignment));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Arena>> Device::NewStaging(int64_t bytes) {
  return absl::UnimplementedError(absl::StrCat(
      "device ", traits().name, ": found a request for ", bytes,
      " bytes of staging memory; expected none, as the host accesses its "
      "arenas"));
}

absl::StatusOr<std::unique_ptr<DeviceGraph>> Device::NewGraph() {
  return absl::UnimplementedError(
      absl::StrCat("device ", traits().name,
                   ": found a request for a graph; expected none, as it "
                   "launches no graphs"));
}

}  // namespace partita
