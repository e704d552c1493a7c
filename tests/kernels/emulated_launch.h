// Runs a sample program's kernel in the interpreter of PTX.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_KERNELS_EMULATED_LAUNCH_H_
#define PARTITA_TESTS_KERNELS_EMULATED_LAUNCH_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen_loader/testing/any_sample.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"
#include "testing/emulated_gpu/ptx/executor.h"
#include "testing/emulated_gpu/ptx/module.h"
#include "testing/emulated_gpu/ptx/warp_traffic.h"

namespace partita {

struct EmulatedLaunch {
  ptx::LaunchOptions options;
  // Elements between an address and a multiple of 4096: of each operand, then
  // of each result; 0 for those that are missing.
  std::vector<int> shifts;
  // A few multiprocessors' by default, so that loops go round.
  std::optional<GpuLaunch> launch;
  // The result that is stored over an operand, by operand; -1: over none.
  std::vector<int> result_in_place;
  // If set, gets what warps move, by line of the PTX text.
  std::map<int, ptx::WarpTraffic>* traffic = nullptr;
};

// The results' bytes. No operand may be written, every byte of a result may be
// written once, and nothing else may be touched.
absl::StatusOr<std::vector<std::vector<std::byte>>> LaunchEmulated(
    const ptx::Module& module, const SampleProgram& sample,
    const EmulatedLaunch& how = {});
absl::StatusOr<std::vector<std::vector<std::byte>>> LaunchEmulated(
    const ptx::Module& module, const RowSample& sample,
    const EmulatedLaunch& how = {});
absl::StatusOr<std::vector<std::vector<std::byte>>> LaunchEmulated(
    const ptx::Module& module, const AnySample& sample,
    const EmulatedLaunch& how = {});

}  // namespace partita

#endif  // PARTITA_TESTS_KERNELS_EMULATED_LAUNCH_H_
