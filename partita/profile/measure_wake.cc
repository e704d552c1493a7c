// Wakes a thread again and again.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_wake.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "placement/machine/profile.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWakes = 33;
// Long enough for the thread to sleep and for its core to be given away.
constexpr std::chrono::milliseconds kSleep(3);

}  // namespace

double MeasureWakeSeconds() {
  std::atomic<int> calls = 0;
  std::array<Clock::time_point, kWakes> called;
  std::array<Clock::time_point, kWakes> awake;
  std::thread sleeper([&] {
    for (int i = 0; i < kWakes; ++i) {
      calls.wait(i);
      awake[i] = Clock::now();
    }
  });
  for (int i = 0; i < kWakes; ++i) {
    std::this_thread::sleep_for(kSleep);
    called[i] = Clock::now();
    calls.store(i + 1);
    calls.notify_one();
  }
  sleeper.join();
  std::array<double, kWakes> seconds;
  for (int i = 0; i < kWakes; ++i) {
    seconds[i] = std::chrono::duration<double>(awake[i] - called[i]).count();
  }
  std::sort(seconds.begin(), seconds.end());
  return std::max(seconds[kWakes / 2], kLeastNodeSeconds);
}

}  // namespace partita
