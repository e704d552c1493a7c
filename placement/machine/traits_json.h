// The part of a device that kernels and prices depend on, as JSON: in machine
// files and in profiles.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_TRAITS_JSON_H_
#define PARTITA_PLACEMENT_MACHINE_TRAITS_JSON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "graph/device_traits.h"
#include "placement/machine/strict_json.h"

namespace partita {

inline constexpr double kMaxRate = 1e21;   // per second: flops or bytes
inline constexpr double kMaxSeconds = 60;  // of a latency or a launch

// A name of 1 to 64 letters, digits and _-.: only: device names appear in the
// textual IR.
absl::StatusOr<std::string> ReadDeviceName(const JsonObject& object,
                                           absl::string_view key);

// The key `kind`.
absl::StatusOr<DeviceKind> ReadKind(const JsonObject& object);
// The keys `threads`, `isa`, `peak_flops`, `memory_bandwidth` and
// `launch_seconds`. Needs: traits.kind.
absl::Status ReadRates(const JsonObject& object, DeviceTraits& traits);

// The keys `bandwidth`, in bytes per second, and `latency`, in seconds.
absl::Status ReadTransferFigures(const JsonObject& object, double& bandwidth,
                                 double& latency);

// `"kind": "cpu"`, and the other keys that ReadRates reads.
std::string KindJson(const DeviceTraits& traits);
std::vector<std::string> RatesJson(const DeviceTraits& traits);

// `"bandwidth": 1e10, "latency": 1e-5`
std::string TransferFiguresJson(double bandwidth, double latency);

// The shortest form that reads back equal.
std::string JsonNumber(double value);
// In quotes, with escapes; bytes that are not UTF-8 are replaced.
std::string JsonQuoted(absl::string_view text);

template <typename T>
std::string JsonList(const std::vector<T>& items,
                     std::string (*text)(const T&)) {
  if (items.empty()) return "[]";
  std::vector<std::string> lines;
  for (const T& item : items) lines.push_back(text(item));
  return absl::StrCat("[\n", absl::StrJoin(lines, ",\n"), "\n  ]");
}

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_TRAITS_JSON_H_
