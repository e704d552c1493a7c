// What devices in host memory have in common.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/device.h"

#include "absl/strings/str_cat.h"

namespace partita {

// Values begin at cache lines.
int64_t StagedBytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }

absl::StatusOr<std::unique_ptr<Arena>> Device::NewStaging(int64_t bytes) {
  return absl::UnimplementedError(absl::StrCat(
      "device ", traits().name, ": found a request for ", bytes,
      " bytes of staging memory; expected none, as the host accesses its "
      "arenas"));
}

}  // namespace partita
