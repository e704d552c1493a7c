// A union of time intervals, and how much of it is in another interval.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_COVERED_TIME_H_
#define PARTITA_TOOLS_VIEWER_COVERED_TIME_H_

#include <utility>
#include <vector>

namespace partita {

// A union of time intervals. Sorted once, since every transfer queries it.
class CoveredTime {
 public:
  explicit CoveredTime(std::vector<std::pair<double, double>> intervals);
  // Seconds of [start, end) that are in at least one of the intervals.
  double Within(double start, double end) const;

 private:
  double Before(double time) const;

  std::vector<std::pair<double, double>> spans_;  // disjoint, in order of time
  std::vector<double> seconds_;                   // of all spans before one
};

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_COVERED_TIME_H_
