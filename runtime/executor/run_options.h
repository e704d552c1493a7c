// What a caller may ask of one step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_
#define PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace partita {

struct RunOptions {
  // After this the step ends with DeadlineExceeded.
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
  // The holder of its stop_source ends the step with Cancelled.
  std::stop_token cancel;
  // Measure start and end of every command.
  bool trace = false;
  // Random delays before commands and records, the same ones for the same seed:
  // a correct plan gives the same bits under all of them.
  std::optional<uint64_t> chaos_seed;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_RUN_OPTIONS_H_
