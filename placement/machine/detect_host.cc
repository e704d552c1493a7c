// Finds cores, memory and GPUs of this host.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_host.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "placement/machine/detect_gpus.h"

namespace partita {
namespace {

int CoresOfMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    // More than 1,024 cores do not fit the fixed mask.
    return std::max(1u, std::thread::hardware_concurrency());
  }
  return std::max(1, CPU_COUNT(&mask));
}

// The first number of a file; -1 if there is none ("max") or no file.
double FirstNumber(const char* path) {
  std::ifstream file(path);
  double value = -1;
  return file >> value ? value : -1;
}

// Cores that the control group grants; 0 if it sets no limit.
double CoresOfGroup() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // version 2: "200000 100000"
  double quota = 0, period = 0;
  if (file >> quota >> period && period > 0) return quota / period;
  quota = FirstNumber("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");  // version 1
  period = FirstNumber("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota > 0 && period > 0 ? quota / period : 0;
}

int UsableCores() {
  const int cores = CoresOfMask();
  const double granted = CoresOfGroup();
  if (granted <= 0) return cores;
  return std::clamp(static_cast<int>(std::floor(granted)), 1, cores);
}

int64_t UsableMemory() {
  struct sysinfo info = {};
  int64_t memory = int64_t{1} << 30;
  if (sysinfo(&info) == 0) {
    memory = static_cast<int64_t>(info.totalram) * info.mem_unit;
  }
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const double limit = FirstNumber(path);
    if (limit > 0 && limit < memory) memory = static_cast<int64_t>(limit);
  }
  return memory;
}

// What one core does in one cycle, in f32 operations: two fused multiply-adds
// of a vector, or with SSE one add and one multiply.
struct Instructions {
  const char* isa;
  double f32_per_cycle;
};

Instructions BestInstructions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return {"avx512", 64};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2", 32};
  }
  return {"sse4", 8};
#else
  return {"", 8};
#endif
}

bool HasBf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

// The clock under load is not known; this is what servers hold, about.
constexpr double kNominalHertz = 3e9;
constexpr double kBandwidthPerCore = 1.2e10;
constexpr double kMostBandwidth = 2e11;

MachineDevice DetectCpu() {
  MachineDevice cpu;
  DeviceTraits& traits = cpu.traits;
  const Instructions instructions = BestInstructions();
  traits.name = "cpu:0";
  traits.kind = DeviceKind::kCpu;
  traits.threads = UsableCores();
  traits.isa = instructions.isa;
  const double f32 =
      traits.threads * kNominalHertz * instructions.f32_per_cycle;
  traits.peak_flops[static_cast<int>(DType::kF32)] = f32;
  traits.peak_flops[static_cast<int>(DType::kF64)] = f32 / 2;
  traits.peak_flops[static_cast<int>(DType::kBF16)] = HasBf16() ? 2 * f32 : f32;
  traits.memory_bandwidth =
      std::min(traits.threads * kBandwidthPerCore, kMostBandwidth);
  traits.launch_seconds = 1e-6;
  cpu.memory = UsableMemory();
  // The system, this program and its libraries.
  cpu.reserve = std::min(cpu.memory / 4, int64_t{4} << 30);
  return cpu;
}

// A direct PCIe path of generation 4 with 16 lanes: what can be assumed of a
// GPU that says nothing. The GPUs share the host's end of it.
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
