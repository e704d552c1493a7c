// Tests the stage search against brute force over all splits.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/stage_search.h"

#include <algorithm>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Links of unequal speed; 0 and 3 have no link.
double Transfer(LineDeviceId from, LineDeviceId to, int64_t bytes) {
  if (std::abs(from.index - to.index) == 3) return kNever;
  return 0.5 + bytes * (0.01 * (from.index + to.index));
}

std::vector<SegmentId> Ends(const std::vector<int>& ends) {
  std::vector<SegmentId> ids;
  for (int end : ends) ids.emplace_back(end);
  return ids;
}

std::vector<LineDeviceId> Devices(const std::vector<int>& devices) {
  std::vector<LineDeviceId> ids;
  for (int device : devices) ids.emplace_back(device);
  return ids;
}

StageLine RandomLine(int segments, int devices, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  StageLine line;
  const SegmentId end(segments);  // one past the last
  line.segments = IdVector<SegmentId, LineSegment>(segments);
  for (int p = 0; p < segments; ++p) {
    LineSegment& segment = line.segments[SegmentId(p)];
    for (int d = 0; d < devices; ++d) {
      segment.seconds.Add(draw(0, 15) == 0 ? kNever : draw(1, 9) / (d + 1.0));
    }
    segment.entering = draw(0, 100);
    segment.live = draw(0, 30);
    if (draw(0, 1) == 0) segment.stored.push_back({draw(1, 40), end});
    if (p + 2 < segments &&
        draw(0, 3) == 0) {  // read here and two segments later
      const int64_t shared = draw(1, 40);
      const SegmentId later(p + 2);
      segment.stored.push_back({shared, later});
      line.segments[later].stored.push_back({shared, end});
    }
  }
  for (int d = 0; d < devices; ++d) line.limits.Add(draw(60, 200));
  line.transfer = Transfer;
  line.equal = [](LineDeviceId, LineDeviceId) { return false; };
  return line;
}

// Seconds of one stage; never if it does not fit. `from` is invalid for the
// first stage.
double StageSeconds(const StageLine& line, SegmentId begin, SegmentId end,
                    LineDeviceId from, LineDeviceId device) {
  double seconds =
      from.valid() ? line.transfer(from, device, line.segments[begin].entering)
                   : 0;
  int64_t live = 0, stored = 0;
  for (SegmentId id : IdRange<SegmentId>(begin, end.index - begin.index)) {
    const LineSegment& segment = line.segments[id];
    seconds += segment.seconds[device];
    live = std::max(live, segment.live);
    for (const StoredRead& read : segment.stored) {
      // Counted at the stage's last reader.
      if (read.next_segment >= end) stored += read.bytes;
    }
  }
  return live + stored > line.limits[device] ? kNever : seconds;
}

// The best of all splits on all sequences of devices.
void BruteForce(const StageLine& line, SegmentId begin, LineDeviceId from,
                IdVector<LineDeviceId, bool>& used, double slowest,
                double& best) {
  const int segments = static_cast<int>(line.segments.size());
  if (begin.index == segments) {
    best = std::min(best, slowest);
    return;
  }
  for (LineDeviceId d : used.ids()) {
    if (used[d]) continue;
    used[d] = true;
    for (int i = begin.index + 1; i <= segments; ++i) {
      const SegmentId end(i);
      const double stage = StageSeconds(line, begin, end, from, d);
      BruteForce(line, end, d, used, std::max(slowest, stage), best);
    }
    used[d] = false;
  }
}

TEST(StageSearchTest, TheSlowestStageIsOptimal) {
  std::mt19937 random(7);
  int found = 0, impossible = 0;
  for (int round = 0; round < 300; ++round) {
    const StageLine line = RandomLine(1 + round % 7, 1 + round % 4, random);
    double best = kNever;
    IdVector<LineDeviceId, bool> used(line.limits.size(), false);
    BruteForce(line, SegmentId(0), LineDeviceId(), used, 0, best);
    const std::optional<Stages> stages = SearchStages(line, 0);
    ASSERT_EQ(stages.has_value(), best < kNever) << "round " << round;
    if (!stages.has_value()) {
      ++impossible;
      continue;
    }
    ++found;
    ASSERT_DOUBLE_EQ(stages->slowest, best) << "round " << round;
    double slowest = 0;
    SegmentId begin(0);
    for (size_t s = 0; s < stages->ends.size(); ++s) {
      const LineDeviceId from =
          s == 0 ? LineDeviceId() : stages->devices[s - 1];
      slowest = std::max(slowest, StageSeconds(line, begin, stages->ends[s],
                                               from, stages->devices[s]));
      begin = stages->ends[s];
    }
    EXPECT_EQ(begin.index, static_cast<int>(line.segments.size()));
    EXPECT_DOUBLE_EQ(slowest, best);
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(impossible, 10);
}

TEST(StageSearchTest, AnExactNumberOfStagesCanBeRequested) {
  std::mt19937 random(3);
  StageLine line = RandomLine(6, 1, random);
  for (LineSegment& segment : line.segments) {
    segment.seconds.assign(3, 1);
    segment.entering = 0;
  }
  line.limits.assign(3, 1000);
  line.transfer = [](LineDeviceId, LineDeviceId, int64_t) { return 0; };
  line.equal = [](LineDeviceId, LineDeviceId) { return true; };
  EXPECT_EQ(SearchStages(line, 1)->ends, Ends({6}));
  EXPECT_EQ(SearchStages(line, 2)->ends, Ends({3, 6}));
  EXPECT_EQ(SearchStages(line, 3)->ends, Ends({2, 4, 6}));
  EXPECT_EQ(SearchStages(line, 3)->devices, Devices({0, 1, 2}));
  EXPECT_EQ(SearchStages(line, 0)->devices.size(), 3u);
}

TEST(StageSearchTest, ManyUnequalDevicesAreTriedOnlyInLikelyOrders) {
  std::mt19937 random(5);
  StageLine line = RandomLine(40, 8, random);
  for (LineSegment& segment : line.segments) {
    for (double& s : segment.seconds) s = std::min(s, 9.0);
  }
  line.limits.assign(8, 100000);
  line.transfer = [](LineDeviceId, LineDeviceId, int64_t) { return 0; };
  line.likely_orders = {Devices({7, 6, 5, 4, 3, 2, 1, 0})};
  const std::optional<Stages> stages = SearchStages(line, 0);
  ASSERT_TRUE(stages.has_value());
  for (size_t s = 0; s < stages->devices.size(); ++s) {
    EXPECT_EQ(stages->devices[s].index, 7 - static_cast<int>(s));
  }
}

}  // namespace
}  // namespace partita
