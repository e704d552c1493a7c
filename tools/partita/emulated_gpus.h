// The GPUs of a plan, run by software: --emulated-gpus.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_EMULATED_GPUS_H_
#define PARTITA_TOOLS_PARTITA_EMULATED_GPUS_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/gpu_split.h"
#include "runtime/plan/plan.h"

namespace partita {

// The software GPU (testing/emulated_gpu) as the driver of this process. It is
// part of the program: a library beside it would have to be found, and could
// not give its findings back.
class GpuEmulation {
 public:
  virtual ~GpuEmulation() = default;
  // What it found, after all that used GPUs has ended: Internal if the driver's
  // rules were broken, or something was not given back.
  virtual absl::Status Findings() = 0;
};

// A machine with the GPUs that the plan names, or that `split` has for these
// devices, each with twice the memory that the plan may use, as reference runs
// need room beside its arenas. The
// variables PARTITA_EMULATED_SEED and others
// (testing/emulated_gpu/driver/options.h) change it. Unimplemented in a build
// without the headers of CUDA.
absl::StatusOr<std::unique_ptr<GpuEmulation>> EmulateGpusOf(const Plan& plan,
                                                            GpuSplit split);

// Calls `run` with a notice for its report. If `emulated`, there are emulated
// GPUs meanwhile, and their findings are an error.
absl::Status OnEmulatedGpusIf(
    bool emulated, const Plan& plan, GpuSplit split,
    absl::FunctionRef<absl::Status(const std::string& notice)> run);

// Both, if there are two.
std::string JoinNotices(const std::string& a, const std::string& b);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_EMULATED_GPUS_H_
