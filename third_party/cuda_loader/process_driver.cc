// Opens the driver once.
// SPDX-License-Identifier: Apache-2.0

#include "third_party/cuda_loader/process_driver.h"

#include <atomic>

namespace partita {
namespace {

std::atomic<const DriverApi*> chosen{nullptr};

}  // namespace

absl::StatusOr<const DriverApi*> ProcessDriver() {
  if (const DriverApi* api = chosen.load()) return api;
  static const auto& loaded =
      *new absl::StatusOr<DriverApi>(LoadCudaDriver(ProcessCudaPath()));
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

void SetProcessDriver(const DriverApi* api) { chosen = api; }

}  // namespace partita
