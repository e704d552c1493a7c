// Compares and writes versions.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_search/driver_version.h"

#include "absl/strings/str_cat.h"

namespace partita {

std::string DriverVersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

absl::Status CheckDriverVersion(int version) {
  if (version >= kOldestDriver) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "libcuda.so.1: found a driver for CUDA ", DriverVersionText(version),
      "; expected ", DriverVersionText(kOldestDriver),
      " or later; update NVIDIA's driver"));
}

}  // namespace partita
