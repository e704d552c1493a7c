// Asks the system about its processor.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/this_host.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "graph/host_capacity.h"

namespace partita {
namespace {

constexpr int64_t kUsualCache = int64_t{32} << 20;
constexpr size_t kMostNameBytes = 128;

// "model name : AMD EPYC 7763 64-Core Processor"
std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!absl::StartsWith(line, "model name")) continue;
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const absl::string_view name =
        absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1));
    if (!name.empty()) return std::string(name.substr(0, kMostNameBytes));
  }
  return "unknown processor";
}

}  // namespace

ProfileHost ThisProfileHost() {
  const HostCapacity host = ThisHost();
  return {.cpu = ProcessorName(),
          .isa = host.isas.empty() ? "unknown" : host.isas[0],
          .threads = host.threads};
}

int64_t LargestCacheBytes() {
  const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? bytes : kUsualCache;
}

}  // namespace partita
