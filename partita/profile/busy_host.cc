// Compares measurements that no quiet host gives.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/busy_host.h"

namespace partita {
namespace {

constexpr double kMostWarmOverCold = 1.5;
constexpr size_t kOneIn = 20;
constexpr double kMostWakeSeconds = 1e-3;

}  // namespace

bool BusyHost::is_busy() const {
  const bool has_disturbed = disturbed > 0 && disturbed * kOneIn >= kernels;
  return has_disturbed || wake_seconds > kMostWakeSeconds;
}

BusyHost FindBusyHost(const Profile& fresh) {
  BusyHost host{.wake_seconds = fresh.wake_seconds.value_or(0)};
  for (const MeasuredNode& node : fresh.nodes) {
    if (!node.warm.has_value() || !node.cold.has_value()) continue;
    ++host.kernels;
    host.disturbed += *node.warm > kMostWarmOverCold * *node.cold;
  }
  return host;
}

}  // namespace partita
