// The median time of a call, the same for all programs that are compared.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_ONEDNN_VERSIONS_MEDIAN_H_
#define PARTITA_TESTS_BENCH_ONEDNN_VERSIONS_MEDIAN_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace partita {

template <typename Call>
double SecondsOf(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(end - begin).count();
}

// The median in seconds of up to 100 calls in about `budget` seconds, after a
// first that accesses the memory. Nullopt if that takes so much longer than
// `best` that the others cannot be faster.
template <typename Call>
std::optional<double> MedianSeconds(const Call& call, double budget,
                                    double best) {
  // A first call of few milliseconds is mostly page faults.
  constexpr double kShort = 5e-3, kHopeless = 2;
  const double first = SecondsOf(call);
  if (first > kShort && first > kHopeless * best) return std::nullopt;
  const double once = SecondsOf(call);
  std::vector<double> seconds(
      std::clamp(static_cast<int>(budget / once), 1, 100), once);
  for (size_t i = 1; i < seconds.size(); ++i) seconds[i] = SecondsOf(call);
  const auto middle = seconds.begin() + static_cast<int>(seconds.size()) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_ONEDNN_VERSIONS_MEDIAN_H_
