// What the processor has and the environment allows, asked once.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/vector/vector_code.h"

#include <cstdlib>
#include <string>

namespace partita {
namespace {

// How far oneDNN's names go, in our terms.
enum class Most { kBaseline, kAvx2, kAvx512 };

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

Most MostAllowed() {
  const std::string isa = NamedIsa();
  if (isa == "SSE41" || isa == "AVX") return Most::kBaseline;
  if (isa == "AVX2" || isa == "AVX2_VNNI") return Most::kAvx2;
  return Most::kAvx512;
}

}  // namespace

bool HasAvx512() {
  static const bool has = MostAllowed() == Most::kAvx512 &&
                          __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}

bool HasAvx2() {
  static const bool has = MostAllowed() != Most::kBaseline &&
                          __builtin_cpu_supports("avx2") &&
                          __builtin_cpu_supports("fma");
  return has;
}

}  // namespace partita
