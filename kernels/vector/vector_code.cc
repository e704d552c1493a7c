// What the processor has and the environment allows, asked once.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/vector/vector_code.h"

#include <cstdlib>
#include <string_view>

namespace partita {
namespace {

// How far oneDNN's names go, in our terms.
enum class Most { kBaseline, kAvx2, kAvx512 };

Most MostAllowed() {
  const char* named = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string_view isa = named == nullptr ? "" : named;
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
