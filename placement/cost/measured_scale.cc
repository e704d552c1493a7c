// Fits a rising curve through the octaves.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/measured_scale.h"

#include <cmath>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "placement/cost/portable_exp.h"

namespace partita {

MeasuredScale::MeasuredScale(absl::Span<const MeasuredRoofline> measured) {
  absl::btree_map<int, Point> octaves;
  for (const MeasuredRoofline& one : measured) {
    Point& octave = octaves[std::ilogb(one.roofline)];
    octave.roofline += PortableLog(one.roofline);
    octave.seconds += PortableLog(one.seconds);
    octave.weight += 1;
  }
  for (const auto& [octave, sum] : octaves) {
    points_.push_back(
        {sum.roofline / sum.weight, sum.seconds / sum.weight, sum.weight});
  }
  Pool();
}

// Neighbours that fall get their common mean, until none falls.
void MeasuredScale::Pool() {
  struct Block {
    double seconds;
    double weight;
    size_t points;
  };
  std::vector<Block> blocks;
  for (const Point& point : points_) {
    blocks.push_back({point.seconds, point.weight, 1});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].seconds > blocks.back().seconds) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& before = blocks.back();
      before.seconds =
          (before.seconds * before.weight + last.seconds * last.weight) /
          (before.weight + last.weight);
      before.weight += last.weight;
      before.points += last.points;
    }
  }
  size_t next = 0;
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.points; ++i) {
      points_[next++].seconds = block.seconds;
    }
  }
}

double MeasuredScale::Seconds(double roofline) const {
  if (roofline <= 0) return 0;
  const double at = PortableLog(roofline);
  const auto above = absl::c_find_if(
      points_, [&](const Point& point) { return point.roofline > at; });
  if (above == points_.begin()) {
    return PortableExp(above->seconds + at - above->roofline);
  }
  const Point& below = *(above - 1);
  if (above == points_.end()) {
    return PortableExp(below.seconds + at - below.roofline);
  }
  const double share =
      (at - below.roofline) / (above->roofline - below.roofline);
  return PortableExp(below.seconds + share * (above->seconds - below.seconds));
}

}  // namespace partita
