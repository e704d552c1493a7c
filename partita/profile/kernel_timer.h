// Times single kernels on a device of this host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_KERNEL_TIMER_H_
#define PARTITA_PARTITA_PROFILE_KERNEL_TIMER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/kernel.h"
#include "partita/backends/backend.h"
#include "partita/profile/plan_kernels.h"
#include "runtime/device/device.h"

namespace partita {

struct KernelSeconds {
  double warm = 0;  // operands, results and workspace in the caches
  double cold = 0;  // not in them
};

// All calls come from one thread: the one that launches.
class KernelTimer {
 public:
  // Unavailable if this host lacks the device, ResourceExhausted if there is no
  // memory for the bytes that displace the caches' content.
  static absl::StatusOr<std::unique_ptr<KernelTimer>> On(
      const DeviceTraits& device);
  ~KernelTimer();
  KernelTimer(const KernelTimer&) = delete;
  KernelTimer& operator=(const KernelTimer&) = delete;

  // Launches the kernel over random operands: at least once, so that a kernel
  // of a second takes some seconds. Medians; of launches in sequence for warm
  // caches, and of single ones after a copy through twice the largest cache for
  // cold ones. (Caches that other cores have alone keep theirs.) Needs: code of
  // generated kernels was built by this process. FailedPrecondition if another
  // kernel is bound; errors of the kernel.
  absl::StatusOr<KernelSeconds> Time(const PlanKernel& kernel);

 private:
  struct Buffers;
  KernelTimer(const Backend& backend, std::unique_ptr<Device> device,
              std::unique_ptr<DeviceStream> stream,
              std::unique_ptr<Arena> scrub);

  absl::StatusOr<Buffers> NewBuffers(const OpView& op, int64_t workspace);
  // Seconds of one of `count` launches.
  absl::StatusOr<double> Launch(Kernel& kernel, const LaunchArgs& args,
                                int count);
  absl::StatusOr<double> Warm(Kernel& kernel, const LaunchArgs& args);
  absl::StatusOr<double> Cold(Kernel& kernel, const LaunchArgs& args);
  absl::Status DisplaceCaches();

  const Backend& backend_;
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<DeviceStream> stream_;
  const std::unique_ptr<Arena> scrub_;
  int attached_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_KERNEL_TIMER_H_
