// Runs a measurement in a process of its own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_ISOLATED_RUN_H_
#define PARTITA_TESTS_BENCH_ISOLATED_RUN_H_

#include <functional>
#include <string>

namespace partita {

struct IsolatedRun {
  std::string text;    // what the measurement returned
  bool ended = false;  // false: a signal ended the process
  double peak_mebibytes = 0;
};

// Forks, and runs `measure` in the child, so that its peak memory is its own
// and running out of memory ends only the child. A SIGALRM ends it after
// `limit_seconds`. The caller must have one thread.
IsolatedRun RunIsolated(const std::function<std::string()>& measure,
                        int limit_seconds);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_ISOLATED_RUN_H_
