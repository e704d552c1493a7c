// Asks the processor.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_isa.h"

namespace partita {

bool HostHasIsa(absl::string_view isa) {
  if (isa.empty()) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == "sse4") return __builtin_cpu_supports("sse4.2");
  if (isa == "avx2") {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  if (isa == "avx512") {
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return false;
}

}  // namespace partita
