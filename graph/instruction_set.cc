// Queries the processor and the environment once.
// SPDX-License-Identifier: Apache-2.0

#include "graph/instruction_set.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string>

namespace partita {
namespace {

// In capitals. As oneDNN does, accepts both names of the variable (the first
// goes before the second) and letters of either case.
std::string NamedIsa() {
  const char* named = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (named == nullptr) named = std::getenv("DNNL_MAX_CPU_ISA");
  std::string isa = named == nullptr ? "" : named;
  for (char& letter : isa) {
    if (letter >= 'a' && letter <= 'z') letter -= 'a' - 'A';
  }
  return isa;
}

InstructionSet MostAllowed() {
  const std::string isa = NamedIsa();
  if (isa == "SSE41" || isa == "AVX") return InstructionSet::kSse4;
  if (isa == "AVX2" || isa == "AVX2_VNNI" || isa == "AVX512_MIC" ||
      isa == "AVX512_MIC_4OPS") {
    return InstructionSet::kAvx2;
  }
  if (isa == "AVX512_CORE" || isa == "AVX512_CORE_VNNI") {
    return InstructionSet::kAvx512;
  }
  if (isa == "AVX512_CORE_BF16") return InstructionSet::kAvx512Bf16;
  return InstructionSet::kAvx512Amx;
}

#if defined(__x86_64__)
bool HasTiles() {
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  constexpr unsigned kAll = kBf16 | kTile | kInt8;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
         (edx & kAll) == kAll;
}

// The process must ask the system to save the tile registers.
bool MayUseTiles() {
  constexpr int kGetPermissions = 0x1022, kAskPermission = 0x1023;
  constexpr int kTileData = 18;
  unsigned long granted = 0;
  if (syscall(SYS_arch_prctl, kGetPermissions, &granted) != 0) return false;
  return (granted >> kTileData & 1) != 0 ||
         syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
}
#endif

bool ProcessorHas(InstructionSet set) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (set) {
    case InstructionSet::kSse4:
      return __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("popcnt");
    case InstructionSet::kF16c:
      return __builtin_cpu_supports("f16c");
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             ProcessorHas(InstructionSet::kF16c);
    case InstructionSet::kAvx512:
      return ProcessorHas(InstructionSet::kAvx2) &&
             __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case InstructionSet::kAvx512Bf16:
      return ProcessorHas(InstructionSet::kAvx512) &&
             __builtin_cpu_supports("avx512vnni") &&
             __builtin_cpu_supports("avx512bf16");
    case InstructionSet::kAvx512Amx:
      return ProcessorHas(InstructionSet::kAvx512Bf16) && HasTiles() &&
             MayUseTiles();
  }
#endif
  return false;
}

}  // namespace

bool MayUse(InstructionSet set) {
  static const InstructionSet most = MostAllowed();
  return set <= most && ProcessorHas(set);
}

}  // namespace partita
