// Sorts and joins the intervals.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/covered_time.h"

#include <algorithm>

namespace partita {

CoveredTime::CoveredTime(std::vector<std::pair<double, double>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double seconds = 0;
  for (const auto& [from, to] : intervals) {
    if (!spans_.empty() && from <= spans_.back().second) {
      const double end = std::max(spans_.back().second, to);
      seconds += end - spans_.back().second;
      spans_.back().second = end;
      continue;
    }
    spans_.emplace_back(from, to);
    seconds_.push_back(seconds);
    seconds += to - from;
  }
}

double CoveredTime::Within(double start, double end) const {
  return std::max(0.0, Before(end) - Before(start));
}

double CoveredTime::Before(double time) const {
  const auto next = std::partition_point(
      spans_.begin(), spans_.end(),
      [time](const auto& span) { return span.first < time; });
  if (next == spans_.begin()) return 0;
  const auto last = next - 1;
  return seconds_[last - spans_.begin()] + std::min(time, last->second) -
         last->first;
}

}  // namespace partita
