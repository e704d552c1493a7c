// Streams, events and copies of devices in host memory.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_device.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"

namespace partita {
namespace {

// Iterates over both lists of blocks, and copies the longest run that is
// contiguous in both.
void CopyBlocks(const Blocks& to, const Blocks& from) {
  const int64_t bytes = to.size();
  for (int64_t done = 0; done < bytes;) {
    const int64_t to_inside = done % to.block;
    const int64_t from_inside = done % from.block;
    const int64_t run =
        std::min(to.block - to_inside, from.block - from_inside);
    std::memcpy(to.base + (done / to.block) * to.stride + to_inside,
                from.base + (done / from.block) * from.stride + from_inside,
                run);
    done += run;
  }
}

class HostStream : public DeviceStream {
 public:
  // Kernels are bound for this number of threads: OMP_THREAD_LIMIT and
  // OMP_DYNAMIC must not lower it while they run.
  explicit HostStream(int threads)
      : threads_(std::min(threads, omp_get_thread_limit())) {}

  int Attach() override {
    const int before = omp_get_max_threads();
    if (before != threads_) omp_set_num_threads(threads_);
    dynamic_ = omp_get_dynamic();
    if (dynamic_ != 0) omp_set_dynamic(0);
    return before;
  }
  void Detach(int attached) override {
    if (attached != threads_) omp_set_num_threads(attached);
    if (dynamic_ != 0) omp_set_dynamic(dynamic_);
  }
  absl::Status Copy(const Blocks& to, const Blocks& from) override {
    if (to.size() == 0) return absl::OkStatus();
    if (to.contiguous() && from.contiguous()) {
      std::memcpy(to.base, from.base, to.size());
    } else {
      CopyBlocks(to, from);
    }
    return absl::OkStatus();
  }
  absl::Status Record(DeviceEvent& event, uint64_t step) override {
    event.steps().Raise(step + 1);
    return absl::OkStatus();
  }
  bool Wait(DeviceEvent& event, uint64_t step,
            const WaitPolicy& policy) override {
    return event.steps().Wait(step + 1, policy);
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  const int threads_;
  int dynamic_ = 0;  // its value before Attach
};

class HostDevice : public Device {
 public:
  HostDevice(DeviceTraits traits, bool is_virtual, bool is_timed)
      : traits_(std::move(traits)),
        is_virtual_(is_virtual),
        is_timed_(is_timed) {}

  const DeviceTraits& traits() const override { return traits_; }
  bool is_host() const override { return !is_virtual_; }
  bool is_virtual() const override { return is_virtual_; }
  bool is_timed() const override { return is_timed_; }

  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<HostArena> arena,
        HostArena::New(traits_.name, bytes, alignment, is_virtual_));
    return std::unique_ptr<Arena>(std::move(arena));
  }
  std::unique_ptr<DeviceStream> NewStream() override {
    return std::make_unique<HostStream>(std::max(1, traits_.threads));
  }
  std::unique_ptr<DeviceEvent> NewEvent() override {
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
  const bool is_virtual_;
  const bool is_timed_;
};

}  // namespace

std::unique_ptr<Device> NewCpuDevice(DeviceTraits traits) {
  return std::make_unique<HostDevice>(std::move(traits), false, false);
}

std::unique_ptr<Device> NewVirtualDevice(DeviceTraits traits, bool timed) {
  return std::make_unique<HostDevice>(std::move(traits), true, timed);
}

}  // namespace partita
