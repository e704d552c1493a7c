// Estimates rates of this host and lists its GPUs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_host.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "graph/host_capacity.h"
#include "graph/instruction_set.h"
#include "placement/machine/detect_gpus.h"

namespace partita {
namespace {

// f32 operations of one core per cycle: two vector fused multiply-adds; with
// SSE one add and one multiply.
double F32PerCycle(const std::string& isa) {
  if (VectorIsa(isa) == "avx512") return 64;
  return isa == "avx2" ? 32 : 8;
}

// The clock under load is unknown; this is a typical value for servers.
constexpr double kNominalHertz = 3e9;
constexpr double kBandwidthPerCore = 1.2e10;
constexpr double kMostBandwidth = 2e11;

MachineDevice DetectCpu() {
  MachineDevice cpu;
  DeviceTraits& traits = cpu.traits;
  const HostCapacity host = ThisHost();
  traits.name = "cpu:0";
  traits.kind = DeviceKind::kCpu;
  traits.threads = host.threads;
  if (!host.isas.empty()) traits.isa = host.isas[0];
  const double f32 = traits.threads * kNominalHertz * F32PerCycle(traits.isa);
  traits.peak_flops[static_cast<int>(DType::kF32)] = f32;
  traits.peak_flops[static_cast<int>(DType::kF64)] = f32 / 2;
  const bool has_bf16 = MayUse(InstructionSet::kAvx512Bf16);
  traits.peak_flops[static_cast<int>(DType::kBF16)] = has_bf16 ? 2 * f32 : f32;
  traits.memory_bandwidth =
      std::min(traits.threads * kBandwidthPerCore, kMostBandwidth);
  traits.launch_seconds = 1e-6;
  cpu.memory = host.memory;
  // For the system, this program and its libraries.
  cpu.reserve = std::min(cpu.memory / 4, int64_t{4} << 30);
  return cpu;
}

// Assumes a direct PCIe 4.0 path with 16 lanes, as the driver does not report
// it. The GPUs share the host's end of it.
Link LinkOf(const std::string& from, const std::string& to) {
  Link link;
  link.from = from;
  link.to = to;
  link.bandwidth = 2.4e10;
  link.latency = 1e-5;
  link.bus = "pcie";
  return link;
}

}  // namespace

Machine DetectHost(const DetectOptions& options) {
  Machine machine;
  char name[256] = "host";
  if (gethostname(name, sizeof(name) - 1) == 0) machine.name = name;
  machine.devices.push_back(DetectCpu());
  if (!options.gpus) return machine;
  for (MachineDevice& gpu : DetectGpus()) machine.devices.push_back(gpu);
  for (size_t i = 0; i < machine.devices.size(); ++i) {
    for (size_t j = i + 1; j < machine.devices.size(); ++j) {
      machine.links.push_back(LinkOf(machine.devices[i].traits.name,
                                     machine.devices[j].traits.name));
    }
  }
  return machine;
}

}  // namespace partita
