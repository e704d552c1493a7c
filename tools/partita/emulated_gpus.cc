// Makes a machine for a plan, and reports what it found.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/emulated_gpus.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {
namespace {

using emulated_gpu::EmulatedCuda;
using emulated_gpu::EmulatedGpuOptions;
using emulated_gpu::Finding;

// A broken rule is broken in each step.
constexpr size_t kMostShown = 20;

class ProcessEmulation : public GpuEmulation {
 public:
  explicit ProcessEmulation(std::unique_ptr<EmulatedCuda> machine)
      : machine_(std::move(machine)) {
    SetProcessDriver(&machine_->api());
  }
  ~ProcessEmulation() override { SetProcessDriver(nullptr); }

  absl::Status Findings() override {
    std::vector<Finding> all = machine_->findings();
    for (Finding& leak : machine_->leaks()) all.push_back(std::move(leak));
    if (all.empty()) return absl::OkStatus();
    std::string text = absl::StrCat(
        "emulated GPUs: found ", all.size(),
        " breaches of the driver's rules; expected none; this is a defect:");
    for (size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
      absl::StrAppend(&text, "\n  ", TextOf(all[i]));
    }
    return absl::InternalError(text);
  }

 private:
  const std::unique_ptr<EmulatedCuda> machine_;
};

// Numbers in names and instruction sets: 1 of "gpu:1", 90 of "sm_90a".
int NumberIn(const std::string& text, char before) {
  absl::string_view digits = text;
  digits.remove_prefix(text.rfind(before) + 1);
  while (!digits.empty() && (digits.back() < '0' || digits.back() > '9')) {
    digits.remove_suffix(1);
  }
  int number = 0;
  return absl::SimpleAtoi(digits, &number) ? number : 0;
}

// Each share has its part of the GPU's memory: twice what the plan's device
// has, as far as an emulated GPU can.
int64_t MemoryOf(const PlanDevice& device, GpuSplit split) {
  const int64_t of_memory = 2 * split.shares;
  return of_memory *
         std::min(device.memory, emulated_gpu::kMostBytesPerGpu / of_memory);
}

EmulatedGpuOptions MachineFor(const Plan& plan, GpuSplit split) {
  EmulatedGpuOptions options;
  options.gpus = 0;
  int capability = 80;  // the least that code is generated for
  for (const PlanDevice& device : plan.devices) {
    if (device.traits.kind != DeviceKind::kCuda) continue;
    const int gpu = split.GpuOf(NumberIn(device.traits.name, ':'));
    options.gpus = std::max(options.gpus, gpu + 1);
    capability = std::max(capability, NumberIn(device.traits.isa, '_'));
    options.bytes_per_gpu =
        std::max(options.bytes_per_gpu, MemoryOf(device, split));
  }
  options.compute_capability_major = capability / 10;
  options.compute_capability_minor = capability % 10;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuEmulation>> EmulateGpusOf(const Plan& plan,
                                                            GpuSplit split) {
  PARTITA_ASSIGN_OR_RETURN(
      const EmulatedGpuOptions options,
      emulated_gpu::OptionsFromEnvironment(MachineFor(plan, split)));
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedCuda> machine,
                           EmulatedCuda::New(options));
  return std::make_unique<ProcessEmulation>(std::move(machine));
}

}  // namespace partita
