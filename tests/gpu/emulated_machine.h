// Plans on emulated GPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_EMULATED_MACHINE_H_
#define PARTITA_TESTS_GPU_EMULATED_MACHINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/gpu_split.h"
#include "kernels/cuda/ptx_library.h"
#include "placement/machine/machine.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/test_kernels.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"

namespace partita {

// The software GPU as the driver of this process, while it exists.
class EmulatedMachine {
 public:
  explicit EmulatedMachine(const emulated_gpu::EmulatedGpuOptions& options);
  ~EmulatedMachine();

  emulated_gpu::EmulatedCuda& cuda() { return *cuda_; }
  const DriverApi& api() const { return cuda_->api(); }
  // What was found, and what was not given back: the calling thread's context,
  // too.
  std::vector<std::string> Faults();

 private:
  std::unique_ptr<emulated_gpu::EmulatedCuda> cuda_;
};

// Each order once, then random ones.
emulated_gpu::Order OrderOf(uint64_t seed);

// GPUs of sm_90 with so many bytes each, and links between them.
Machine NewGpus(int gpus, int64_t gpu_memory);

// y = softmax(relu(x * w + b)) of 16 rows, by generated kernels: all on gpu:0,
// or the matmul there and the rest on gpu:1, behind a copy or, if `capacity` is
// given, a message of a channel with so many slots.
struct PtxPlan {
  std::shared_ptr<Plan> plan;
  std::vector<float> x;
};
PtxPlan MatmulSoftmaxPlan(int gpus, std::optional<int> capacity = {});

// y = 2 * relu(2 * x) of 16 rows: cpu:0 doubles, and gpu:1 has the relu.
PtxPlan CpuAndGpuPlan();

// Binds "ptx.*" on GPUs and "test.eval" on CPUs.
struct PlanLibraries {
  PtxLibrary ptx;
  TestLibrary test;
  KernelLibraries all = {&ptx, &test};
};

// The plan's devices: emulated GPUs, or their shares, by their numbers, and
// CPUs.
absl::StatusOr<Devices> DevicesOf(const Plan& plan, const DriverApi& api,
                                  GpuSplit split = {});

// One step of a plan with one input and one output.
absl::StatusOr<std::vector<float>> RunStep(Executor& executor,
                                           const std::vector<float>& x,
                                           const RunOptions& options = {});
// Loads the plan, runs a step, and ends the session.
absl::StatusOr<std::vector<float>> RunOnce(const PtxPlan& plan,
                                           const PlanLibraries& libraries,
                                           const DriverApi& api,
                                           const ExecutorOptions& options = {});

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_EMULATED_MACHINE_H_
