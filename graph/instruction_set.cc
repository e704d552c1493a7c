// What the processor has and the environment allows, asked once.
// SPDX-License-Identifier: Apache-2.0

#include "graph/instruction_set.h"

#include <cstdlib>
#include <string>

namespace partita {
namespace {

// In capitals; oneDNN takes either name of the variable, the first before the
// second, and letters of either case.
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
  if (isa == "AVX2" || isa == "AVX2_VNNI") return InstructionSet::kAvx2;
  if (isa == "AVX512_CORE" || isa == "AVX512_CORE_VNNI") {
    return InstructionSet::kAvx512;
  }
  return InstructionSet::kAvx512Bf16;
}

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
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::kAvx512:
      return ProcessorHas(InstructionSet::kAvx2) &&
             __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case InstructionSet::kAvx512Bf16:
      return ProcessorHas(InstructionSet::kAvx512) &&
             __builtin_cpu_supports("avx512bf16");
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
