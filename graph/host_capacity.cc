// Queries the system and the processor.
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_capacity.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "graph/instruction_set.h"
#include "graph/thread_limits.h"

namespace partita {
namespace {

int CoresOfMask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    // The fixed mask has no room for more than 1,024 cores.
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
  int cores = CoresOfMask();
  const double granted = CoresOfGroup();
  if (granted > 0) {
    cores = std::clamp(static_cast<int>(std::floor(granted)), 1, cores);
  }
  return std::min(cores, MostTeamThreads());
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

}  // namespace

std::vector<std::string> UsableIsas() {
  std::vector<std::string> isas;
  if (MayUse(InstructionSet::kAvx512Amx)) isas.push_back("avx512_amx");
  if (MayUse(InstructionSet::kAvx512Bf16)) isas.push_back("avx512_bf16");
  if (MayUse(InstructionSet::kAvx512)) isas.push_back("avx512");
  if (MayUse(InstructionSet::kAvx2)) isas.push_back("avx2");
  if (MayUse(InstructionSet::kSse4)) isas.push_back("sse4");
  return isas;
}

HostCapacity ThisHost() {
  return {UsableCores(), UsableMemory(), UsableIsas()};
}

std::vector<std::string> CpuIsas() {
  return {"avx512_amx", "avx512_bf16", "avx512", "avx2", "sse4"};
}

std::string MeantIsa(absl::string_view isa) {
  if (!isa.empty()) return std::string(isa);
  const std::vector<std::string> usable = UsableIsas();
  return usable.empty() ? CpuIsas().back() : usable.front();
}

std::string VectorIsa(const std::string& isa) {
  return isa.rfind("avx512_", 0) == 0 ? "avx512" : isa;
}

}  // namespace partita
