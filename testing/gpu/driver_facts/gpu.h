// The GPU that facts are measured on: its context, the test kernels, a gate.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_GPU_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_GPU_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "third_party/cuda_loader/driver_api.h"
#include "third_party/cuda_loader/driver_handles.h"

namespace partita {

// The kernels of test_kernels.ptx, PTX for sm_80.
extern const char kTestKernels[];

// saxpy(y, x, a, n) as LLVM prints it for sm_80.
extern const char kLlvmKernel[];

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
  unsigned shared_bytes = 0;
};

class Gpu {
 public:
  // Device 0, its primary context (current in this thread) and the test
  // kernels, all loaded, so that no launch loads code.
  static absl::StatusOr<std::unique_ptr<Gpu>> Open(const DriverApi& api);
  ~Gpu();

  const DriverApi& api() const { return api_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }
  int attribute(CUdevice_attribute name) const;

  // A test kernel; null if there is none of that name.
  CUkernel kernel(const std::string& name) const;

  template <typename... Args>
  CUresult Launch(CUstream stream, const std::string& name, LaunchShape shape,
                  Args... args) const {
    void* parameters[] = {&args..., nullptr};
    return LaunchKernel(stream, kernel(name), shape, parameters);
  }
  CUresult LaunchKernel(CUstream stream, CUkernel kernel, LaunchShape shape,
                        void** parameters) const;

  absl::Status Status(CUresult result, absl::string_view call) const {
    return CudaStatus(api_, result, call);
  }
  absl::StatusOr<OwnedStream> NewStream() const;
  absl::StatusOr<OwnedEvent> NewEvent(
      unsigned flags = CU_EVENT_DISABLE_TIMING) const;
  // Device memory with every byte 0.
  absl::StatusOr<GlobalMemory> NewMemory(size_t bytes) const;
  // Page-locked memory with every byte 0.
  absl::StatusOr<PinnedMemory> NewPinned(size_t bytes) const;
  absl::StatusOr<uint32_t> ReadWord(CUdeviceptr address) const;
  // Free bytes of the device, as cuMemGetInfo counts; -1 if it fails.
  int64_t FreeBytes() const;
  // A second context of the same device; leaves the current one as it is.
  absl::StatusOr<OwnedContext> NewContext() const;

 private:
  explicit Gpu(const DriverApi& api) : api_(api) {}
  absl::Status Start();
  absl::Status LoadKernels();

  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  OwnedLibrary library_;
  std::map<std::string, CUkernel> kernels_;
};

// Holds a stream back: a kernel that spins until the gate opens, or until its
// own time limit, so that nothing hangs.
class Gate {
 public:
  static absl::StatusOr<Gate> New(const Gpu& gpu);
  Gate(Gate&&) = default;
  ~Gate() { Open(); }

  // What is launched on `stream` afterwards waits for the gate.
  CUresult Block(CUstream stream, double limit_seconds = 1.0) const;
  void Open() const;
  // Whether the kernel stopped at its time limit.
  bool ran_out() const;

 private:
  Gate(const Gpu& gpu, PinnedMemory flag)
      : gpu_(&gpu), flag_(std::move(flag)) {}

  const Gpu* gpu_;
  PinnedMemory flag_;
};

// Seconds of the host's steady clock.
double HostSeconds();

// The median of how long `call` takes, in microseconds.
template <typename Call>
double MedianMicroseconds(int repeats, Call call);

double Median(std::vector<double> values);

template <typename Call>
double MedianMicroseconds(int repeats, Call call) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const double start = HostSeconds();
    call();
    times.push_back((HostSeconds() - start) * 1e6);
  }
  return Median(times);
}

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_GPU_H_
