// Devices whose arenas are in host memory.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/status_macros.h"
#include "graph/thread_limits.h"
#include "runtime/device/host_arena.h"
#include "runtime/device/host_stream.h"
#include "runtime/device/timed_stream.h"

namespace partita {
namespace {

// Kernels are bound for this number of threads, and OpenMP has no more for a
// team.
int KernelThreads(const DeviceTraits& traits) {
  return std::clamp(traits.threads, 1, MostTeamThreads());
}

class HostDevice : public Device {
 public:
  HostDevice(DeviceTraits traits, const DeviceProperties& properties,
             bool guarded)
      : traits_(std::move(traits)),
        properties_(properties),
        guarded_(guarded) {}

  const DeviceTraits& traits() const override { return traits_; }
  const DeviceProperties& properties() const override { return properties_; }

  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<HostArena> arena,
        HostArena::New(traits_.name, bytes, alignment, guarded_));
    return std::unique_ptr<Arena>(std::move(arena));
  }
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    return std::make_unique<HostStream>(properties_.kernel_threads);
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    return std::make_unique<DeviceEvent>();
  }
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }

 private:
  const DeviceTraits traits_;
  const DeviceProperties properties_;
  const bool guarded_;
};

class TimedDevice : public HostDevice {
 public:
  // Each stream keeps a thread of its own, which wakes more exactly than the
  // caller's.
  explicit TimedDevice(DeviceTraits traits)
      : HostDevice(std::move(traits),
                   {.computed_by = ComputedBy::kNothing,
                    .host_accesses_arenas = true,
                    .runs_behind_host = false,
                    .emulated = true},
                   /*guarded=*/true) {}
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    return std::make_unique<TimedStream>();
  }
};

}  // namespace

std::unique_ptr<Device> NewCpuDevice(DeviceTraits traits) {
  const DeviceProperties properties = {.computed_by = ComputedBy::kOwnKernels,
                                       .kernel_threads = KernelThreads(traits),
                                       .host_accesses_arenas = true,
                                       .reads_host_memory = true,
                                       .runs_behind_host = false,
                                       .streams_run_on_caller = true};
  return std::make_unique<HostDevice>(std::move(traits), properties,
                                      /*guarded=*/false);
}

std::unique_ptr<Device> NewVirtualDevice(DeviceTraits traits) {
  const DeviceProperties properties = {.computed_by = ComputedBy::kHostKernels,
                                       .kernel_threads = KernelThreads(traits),
                                       .host_accesses_arenas = true,
                                       .runs_behind_host = false,
                                       .streams_run_on_caller = true,
                                       .emulated = true};
  return std::make_unique<HostDevice>(std::move(traits), properties,
                                      /*guarded=*/true);
}

std::unique_ptr<Device> NewTimedDevice(DeviceTraits traits) {
  return std::make_unique<TimedDevice>(std::move(traits));
}

}  // namespace partita
