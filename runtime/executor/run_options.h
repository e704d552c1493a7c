// Options of one step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_
#define PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace partita {

struct RunOptions {
  // The step ends with DeadlineExceeded after this time.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
  // A stop request of its stop_source ends the step with Cancelled.
  std::stop_token cancel;
  // Measure the start and end of every command.
  bool trace = false;
  // Random delays before commands and records, the same for the same seed. A
  // correct plan gives the same bits under all of them.
  std::optional<uint64_t> chaos_seed;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_
