// Runs small programs on emulated machines, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_PROGRAM_RUN_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_PROGRAM_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::emulated_gpu {

using Program = std::function<void(driver_rules::Bench& bench)>;

// Seeds from 0 on give this many schedules, of every order.
inline constexpr int kSchedules = 22;

// Two GPUs that are peers, 64 MiB each.
EmulatedGpuOptions ScheduleOptions(uint64_t seed);

std::vector<std::string> TextsOf(const std::vector<Finding>& findings);

// The findings of a program on a machine of its own; and "fault: ..." for what
// the bench saw otherwise than the program says.
std::vector<std::string> FindingsOf(const Program& program,
                                    const EmulatedGpuOptions& options);

// Empty if each of the schedules has a finding, and each finding has `text` in
// it; else what was found instead.
std::string MissingInSchedules(const std::string& text, const Program& program);

// A second GPU for a bench: its primary context, with a stream, an event and
// 64 bytes. The two may access each other's memory. Gives all back at its end.
struct SecondGpu {
  explicit SecondGpu(driver_rules::Bench& owner);
  ~SecondGpu();
  SecondGpu(const SecondGpu&) = delete;
  SecondGpu& operator=(const SecondGpu&) = delete;

  driver_rules::Bench& bench;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_PROGRAM_RUN_H_
