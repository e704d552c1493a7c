// Owns the driver, and makes it the current one.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/emulated_cuda.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"
#include "testing/emulated_gpu/driver/entry.h"
#include "testing/emulated_gpu/driver/visible_gpus.h"

namespace partita::emulated_gpu {
namespace {

// What the host has addresses for (kMostBytesPerGpu).
constexpr int kMostGpus = 64;

}  // namespace

EmulatedCuda::EmulatedCuda(std::unique_ptr<Driver> driver)
    : driver_(std::move(driver)) {}

absl::StatusOr<std::unique_ptr<EmulatedCuda>> EmulatedCuda::New(
    const EmulatedGpuOptions& options) {
  const std::vector<int> visible =
      options.visible.value_or(AllGpus(options.gpus));
  if (options.gpus < 0 || options.gpus > kMostGpus ||
      !AreDifferentGpus(visible, options.gpus) ||
      options.bytes_per_gpu < options.bytes_per_context ||
      options.bytes_per_gpu > kMostBytesPerGpu ||
      options.bytes_per_context < 0 || options.bytes_per_kernel < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "emulated GPUs: found ", options.gpus, " GPUs of ",
        options.bytes_per_gpu, " bytes, ", options.bytes_per_context,
        " for a context, ", options.bytes_per_kernel,
        " for a kernel; expected at most ", kMostGpus,
        " GPUs, each with memory for a context and at most ", kMostBytesPerGpu,
        " bytes, and visible ones among them"));
  }
  for (const auto& [one, two] : options.nvlinks) {
    if (absl::c_linear_search(options.peers, std::pair(one, two)) ||
        absl::c_linear_search(options.peers, std::pair(two, one))) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("emulated GPUs: found an NVLink between GPUs ", one,
                     " and ", two, "; expected peers"));
  }
  auto driver = std::make_unique<Driver>(options);
  if (!driver->has_addresses()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "emulated GPUs: found no addresses for ", options.gpus, " GPUs of ",
        options.bytes_per_gpu, " bytes; expected those of this process to do; ",
        "take fewer GPUs, or smaller ones"));
  }
  if (!SetCurrentDriver(driver.get())) {
    return absl::FailedPreconditionError(
        "emulated GPUs: found a second EmulatedCuda in the process; expected "
        "one at a time; end the first one");
  }
  return std::unique_ptr<EmulatedCuda>(new EmulatedCuda(std::move(driver)));
}

EmulatedCuda::~EmulatedCuda() { SetCurrentDriver(nullptr); }

const DriverApi& EmulatedCuda::api() const { return EntryTable(); }

std::vector<Finding> EmulatedCuda::findings() { return driver_->Findings(); }

std::vector<Finding> EmulatedCuda::leaks() { return driver_->Leaks(); }

int64_t EmulatedCuda::calls() { return driver_->CallCount(); }

int64_t EmulatedCuda::allocations() { return driver_->AllocationCount(); }

int64_t EmulatedCuda::calls(absl::string_view name) {
  return driver_->CallCount(name);
}

AllocatedBytes EmulatedCuda::allocated() { return driver_->Allocated(); }

}  // namespace partita::emulated_gpu
