// Tests that GPUs do what every device must do: CUDA devices over the software
// GPU, in several orders of their work, and however doubts about the driver are
// read.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "partita/backends/testing/device_conformance.h"
#include "runtime/device/cuda/cuda_device.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"

namespace partita {
namespace {

using emulated_gpu::EmulatedCuda;
using emulated_gpu::EmulatedGpuOptions;
using emulated_gpu::Finding;
using emulated_gpu::Order;
using emulated_gpu::Readings;

// The one machine of this process; each test has its own.
std::unique_ptr<EmulatedCuda>& TheMachine() {
  static auto& machine = *new std::unique_ptr<EmulatedCuda>;
  return machine;
}

absl::StatusOr<std::unique_ptr<Device>> NewEmulatedGpu(
    const EmulatedGpuOptions& options, DeviceTraits traits) {
  std::unique_ptr<EmulatedCuda>& machine = TheMachine();
  if (machine == nullptr) machine = EmulatedCuda::New(options).value();
  return NewCudaDevice(machine->api(), std::move(traits), /*ordinal=*/0);
}

void EndMachine() {
  for (const Finding& finding : TheMachine()->findings()) {
    ADD_FAILURE() << TextOf(finding);
  }
  for (const Finding& leak : TheMachine()->leaks()) {
    ADD_FAILURE() << TextOf(leak);
  }
  TheMachine().reset();
}

DeviceCase CaseOf(const std::string& name, Order order, uint64_t seed,
                  const Readings& readings = {}) {
  EmulatedGpuOptions options;
  options.order = order;
  options.seed = seed;
  options.readings = readings;
  return {.name = name,
          .make =
              [options](DeviceTraits traits) {
                return NewEmulatedGpu(options, std::move(traits));
              },
          .check_end = EndMachine};
}

INSTANTIATE_TEST_SUITE_P(
    EmulatedGpus, DeviceConformanceTest,
    testing::Values(CaseOf("random", Order::kRandom, 1),
                    CaseOf("another", Order::kRandom, 2),
                    CaseOf("oldest", Order::kOldestStreamFirst, 3),
                    CaseOf("youngest", Order::kYoungestStreamFirst, 4),
                    CaseOf("starved", Order::kStarveOneStream, 5),
                    CaseOf("late_waits", Order::kLateWaits, 6),
                    CaseOf("at_once", Order::kAtOnce, 7)),
    [](const auto& tested) { return tested.param.name; });

std::vector<DeviceCase> CasesOfReadings() {
  std::vector<DeviceCase> cases;
  for (const auto& [name, readings] : emulated_gpu::AllReadings()) {
    cases.push_back(CaseOf(name, Order::kRandom, 8, readings));
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(EmulatedGpusRead, DeviceConformanceTest,
                         testing::ValuesIn(CasesOfReadings()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace partita
