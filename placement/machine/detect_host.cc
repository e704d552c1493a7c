// Estimates rates of this host and lists its GPUs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_host.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/host_capacity.h"
#include "graph/instruction_set.h"
#include "placement/machine/detect_gpus.h"
#include "third_party/cuda_search/library_path.h"

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
// Of a thread that sleeps in the kernel: between 5 microseconds on idle
// hardware and some 100 in a virtual machine, whose core was given away.
constexpr double kWakeSeconds = 5e-5;

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

// Assumes PCIe 4.0 with 16 lanes, as the driver does not report it. All GPUs
// share the host's end of it.
constexpr double kPcieBandwidth = 2.4e10;
constexpr double kPcieLatency = 1e-5;

Link PcieLink(const std::string& from, const std::string& to) {
  Link link;
  link.from = from;
  link.to = to;
  link.bandwidth = kPcieBandwidth;
  link.latency = kPcieLatency;
  link.bus = "pcie";
  return link;
}

// Each byte crosses the bus twice, by way of the host's memory.
Link LinkThroughHost(const std::string& from, const std::string& to) {
  Link link = PcieLink(from, to);
  link.bandwidth = kPcieBandwidth / 2;
  link.latency = 2 * kPcieLatency;
  return link;
}

// One direction of one NVLink: 25 GB/s from the second to the fourth
// generation, 50 from the fifth on.
double NvlinkBandwidth(int capability_major) {
  return capability_major >= 10 ? 5e10 : 2.5e10;
}

// Of a GPU all of whose links lead to its peers, as in NVIDIA's servers. For
// others, fewer.
int UsualNvlinks(const DetectedGpu& gpu) {
  const int capability = 10 * gpu.capability_major + gpu.capability_minor;
  if (capability >= 90) return 18;
  if (capability == 80) return 12;
  return capability == 70 ? 6 : 4;
}

Link NvlinkLink(const DetectedGpu& gpu, int nvlinks, const std::string& from,
                const std::string& to) {
  Link link;
  link.from = from;
  link.to = to;
  link.bandwidth = (nvlinks > 0 ? nvlinks : UsualNvlinks(gpu)) *
                   NvlinkBandwidth(gpu.capability_major);
  link.latency = 3e-6;
  return link;
}

Link LinkOf(const GpuPair& pair, const DetectedGpu& gpu,
            const std::string& from, const std::string& to) {
  switch (pair.route) {
    case GpuRoute::kNvlink:
      return NvlinkLink(gpu, pair.nvlinks, from, to);
    case GpuRoute::kPcie:
      return PcieLink(from, to);
    case GpuRoute::kThroughHost:
      return LinkThroughHost(from, to);
  }
  return LinkThroughHost(from, to);
}

// Of two shares of `gpu`: a copy reads and writes its memory.
Link LinkInside(const MachineDevice& gpu, const std::string& from,
                const std::string& to) {
  Link link;
  link.from = from;
  link.to = to;
  link.bandwidth = gpu.traits.memory_bandwidth / 2;
  link.latency = gpu.traits.launch_seconds;
  return link;
}

const GpuPair& PairOf(const GpuInventory& inventory, int one, int two) {
  return *absl::c_find_if(inventory.pairs, [&](const GpuPair& pair) {
    return pair.one == one && pair.two == two;
  });
}

// The numbers of the devices that plans run on.
std::vector<int> NumbersOf(const std::vector<DetectedGpu>& gpus,
                           GpuSplit split) {
  std::vector<int> numbers;
  const int count = static_cast<int>(gpus.size()) * split.shares;
  for (int i = 0; i < count; ++i) {
    if (RunsPlans(gpus[split.GpuOf(i)])) numbers.push_back(i);
  }
  return numbers;
}

// The devices of each GPU, and the links between them.
void AddGpus(const GpuInventory& inventory, GpuSplit split, Machine& machine) {
  const std::vector<DetectedGpu>& gpus = inventory.gpus;
  const std::vector<int> numbers = NumbersOf(gpus, split);
  for (const int i : numbers) {
    machine.devices.push_back(ShareOf(gpus[split.GpuOf(i)].device, i, split));
    const std::string name = machine.devices.back().traits.name;
    machine.links.push_back(
        PcieLink(machine.devices.front().traits.name, name));
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = i + 1; j < numbers.size(); ++j) {
      const std::string from = machine.devices[1 + i].traits.name;
      const std::string to = machine.devices[1 + j].traits.name;
      const int one = split.GpuOf(numbers[i]);
      const int two = split.GpuOf(numbers[j]);
      machine.links.push_back(
          one == two
              ? LinkInside(gpus[one].device, from, to)
              : LinkOf(PairOf(inventory, one, two), gpus[one], from, to));
    }
  }
}

}  // namespace

Machine HostMachine(const GpuInventory& gpus, GpuSplit split) {
  Machine machine;
  char name[256] = "host";
  if (gethostname(name, sizeof(name) - 1) == 0) machine.name = name;
  machine.devices.push_back(DetectCpu());
  machine.host = {ThisHost().threads, kWakeSeconds};
  AddGpus(gpus, split, machine);
  return machine;
}

Machine DetectHost(const DetectOptions& options) {
  return HostMachine(
      options.gpus ? DetectGpus(ProcessCudaPath()) : GpuInventory(),
      options.split);
}

}  // namespace partita
