// A machine of emulated GPUs behind the CUDA driver's table of functions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_EMULATED_CUDA_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_EMULATED_CUDA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/driver/allocated_bytes.h"
#include "testing/emulated_gpu/driver/finding.h"
#include "testing/emulated_gpu/driver/options.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita::emulated_gpu {

class Driver;

// Nothing runs when it is issued: commands run when the host waits, in an order
// that the seed draws, and for a query some or none. Kernels are PTX text, and
// every access of every thread is checked. What work writes to the host's
// memory is poison until the host knows that the work is over. Handles are of
// this object, and end with it; device memory is not mapped for the host.
//
// The functions of the table are plain: they find the machine in a variable of
// the process. One EmulatedCuda at a time, then; a second one is refused.
//
// Thread safety: the table's functions as the driver's. They take one lock; a
// host function runs without it.
class EmulatedCuda {
 public:
  // FailedPrecondition if there is one already, InvalidArgument for options
  // that no machine has.
  static absl::StatusOr<std::unique_ptr<EmulatedCuda>> New(
      const EmulatedGpuOptions& options);
  ~EmulatedCuda();

  const DriverApi& api() const;

  // What was found, without leaks. Runs what is pending first, so that it is
  // checked as well.
  std::vector<Finding> findings();
  // What exists now, one finding each: memory, streams, events, libraries,
  // graphs, execs, contexts.
  std::vector<Finding> leaks();
  // How many calls of the table were made, without those that describe errors.
  int64_t calls();
  // How many of them allocated memory, loaded code or made an object.
  int64_t allocations();
  // How many of them called one function: "cuMemAlloc", without a version.
  int64_t calls(absl::string_view name);
  AllocatedBytes allocated();

 private:
  explicit EmulatedCuda(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_EMULATED_CUDA_H_
