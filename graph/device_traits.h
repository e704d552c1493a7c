// The properties of a device that kernels and planners need.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DEVICE_TRAITS_H_
#define PARTITA_GRAPH_DEVICE_TRAITS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/dtype.h"

namespace partita {

enum class DeviceKind : uint8_t { kCpu, kCuda };
inline constexpr int kNumDeviceKinds = 2;
absl::string_view DeviceKindName(DeviceKind kind);  // "cpu"
std::optional<DeviceKind> ParseDeviceKind(absl::string_view name);
std::vector<absl::string_view> DeviceKindNames();  // of all kinds

struct DeviceTraits {
  friend bool operator==(const DeviceTraits&, const DeviceTraits&) = default;

  std::string name;  // "cpu:0", "gpu:1"
  DeviceKind kind = DeviceKind::kCpu;
  int threads = 1;  // cpu: OpenMP threads of one kernel
  std::string isa;  // "avx512", "sm_90"; empty: any
  std::array<double, kNumDTypes> peak_flops = {};  // per second, per DType
  double memory_bandwidth = 0;                     // bytes per second
  double launch_seconds = 0;                       // per command
};

// True if the devices differ in their names only: a catalog's answers are the
// same for both.
bool SameButName(const DeviceTraits& a, const DeviceTraits& b);

// Devices of one machine that differ in their names only; at least one.
using DeviceClass = std::vector<const DeviceTraits*>;
// All classes, by their first devices. They refer to `devices`.
std::vector<DeviceClass> ClassesOf(absl::Span<const DeviceTraits> devices);

}  // namespace partita

#endif  // PARTITA_GRAPH_DEVICE_TRAITS_H_
