// Asks the system about its processor.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/this_host.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "graph/host_capacity.h"

namespace partita {
namespace {

constexpr int64_t kUsualCache = int64_t{32} << 20;
constexpr int64_t kMostCacheKilobytes = int64_t{1} << 20;
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

// "32768K" of a cache of the first processor; 0 if there is none of that index.
// (sysconf counts the caches of all processors of a socket.)
int64_t CacheBytes(int index) {
  std::ifstream file(
      absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
  std::string text;
  file >> text;
  int64_t kilobytes = 0;
  const absl::string_view number = absl::StripSuffix(text, "K");
  const bool is_size = number.size() < text.size() &&
                       absl::SimpleAtoi(number, &kilobytes) && kilobytes > 0 &&
                       kilobytes <= kMostCacheKilobytes;
  return is_size ? kilobytes << 10 : 0;
}

}  // namespace

ProfileHost ThisProfileHost() {
  const HostCapacity host = ThisHost();
  return {.cpu = ProcessorName(),
          .isa = host.isas.empty() ? "unknown" : host.isas[0],
          .threads = host.threads};
}

int64_t LargestCacheBytes() {
  int64_t largest = 0;
  for (int index = 0;; ++index) {
    const int64_t bytes = CacheBytes(index);
    if (bytes == 0) break;
    largest = std::max(largest, bytes);
  }
  return largest > 0 ? largest : kUsualCache;
}

}  // namespace partita
