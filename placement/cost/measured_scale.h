// From rooflines to seconds, by measurements of kernels of one family.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_MEASURED_SCALE_H_
#define PARTITA_PLACEMENT_COST_MEASURED_SCALE_H_

#include <vector>

#include "absl/types/span.h"

namespace partita {

struct MeasuredRoofline {
  double roofline = 0;  // seconds; more than 0
  double seconds = 0;   // measured; more than 0
};

// Seconds of a kernel whose roofline is known:
//  1. In each octave of rooflines, the geometric means of the rooflines and of
//     the measured seconds are one point. So the ratio of an octave is the
//     geometric mean of its ratios, and large kernels do not set that of small
//     ones, whose time is mostly launch.
//  2. Points that would make a larger node faster are pooled (pool adjacent
//     violators: Ayer et al. 1955), in logarithms.
//  3. Between two points, seconds are a power of the roofline; beyond them, the
//     ratio of the nearest holds.
// So the result never decreases as the roofline grows; it is 0 for a roofline
// of 0. It has equal bits on every host (portable_exp.h). Thread safety: const
// calls may run in parallel.
class MeasuredScale {
 public:
  // Needs: at least one measurement.
  explicit MeasuredScale(absl::Span<const MeasuredRoofline> measured);

  double Seconds(double roofline) const;

 private:
  struct Point {
    double roofline = 0;  // natural logarithms of seconds
    double seconds = 0;
    double weight = 0;  // the number of measurements
  };

  void Pool();

  std::vector<Point> points_;  // by roofline
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_MEASURED_SCALE_H_
