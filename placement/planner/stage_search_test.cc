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
double Transfer(int from, int to, int64_t bytes) {
  if (std::abs(from - to) == 3) return kNever;
  return 0.5 + bytes * (0.01 * (from + to));
}

StageLine RandomLine(int segments, int devices, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  StageLine line;
  line.segments.resize(segments);
  for (int p = 0; p < segments; ++p) {
    LineSegment& segment = line.segments[p];
    for (int d = 0; d < devices; ++d) {
      segment.seconds.push_back(draw(0, 15) == 0 ? kNever
                                                 : draw(1, 9) / (d + 1.0));
    }
    segment.entering = draw(0, 100);
    segment.live = draw(0, 30);
    if (draw(0, 1) == 0) segment.stored.push_back({draw(1, 40), segments});
    if (p + 2 < segments &&
        draw(0, 3) == 0) {  // read here and two segments later
      const int64_t shared = draw(1, 40);
      segment.stored.push_back({shared, p + 2});
      line.segments[p + 2].stored.push_back({shared, segments});
    }
  }
  for (int d = 0; d < devices; ++d) line.limits.push_back(draw(60, 200));
  line.transfer = Transfer;
  line.equal = [](int, int) { return false; };
  return line;
}

// Seconds of one stage; never if it does not fit.
double StageSeconds(const StageLine& line, int begin, int end, int from,
                    int device) {
  double seconds =
      from < 0 ? 0 : line.transfer(from, device, line.segments[begin].entering);
  int64_t live = 0, stored = 0;
  for (int p = begin; p < end; ++p) {
    seconds += line.segments[p].seconds[device];
    live = std::max(live, line.segments[p].live);
    for (const StoredRead& read : line.segments[p].stored) {
      // Counted at the stage's last reader.
      if (read.next_segment >= end) stored += read.bytes;
    }
  }
  return live + stored > line.limits[device] ? kNever : seconds;
}

// The best of all splits on all sequences of devices.
void BruteForce(const StageLine& line, int begin, int from,
                std::vector<bool>& used, double slowest, double& best) {
  const int segments = static_cast<int>(line.segments.size());
  if (begin == segments) {
    best = std::min(best, slowest);
    return;
  }
  for (size_t d = 0; d < used.size(); ++d) {
    if (used[d]) continue;
    used[d] = true;
    for (int end = begin + 1; end <= segments; ++end) {
      const double stage =
          StageSeconds(line, begin, end, from, static_cast<int>(d));
      BruteForce(line, end, static_cast<int>(d), used, std::max(slowest, stage),
                 best);
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
    std::vector<bool> used(line.limits.size(), false);
    BruteForce(line, 0, -1, used, 0, best);
    const std::optional<Stages> stages = SearchStages(line, 0);
    ASSERT_EQ(stages.has_value(), best < kNever) << "round " << round;
    if (!stages.has_value()) {
      ++impossible;
      continue;
    }
    ++found;
    ASSERT_DOUBLE_EQ(stages->slowest, best) << "round " << round;
    double slowest = 0;
    int begin = 0;
    for (size_t s = 0; s < stages->ends.size(); ++s) {
      const int from = s == 0 ? -1 : stages->devices[s - 1];
      slowest = std::max(slowest, StageSeconds(line, begin, stages->ends[s],
                                               from, stages->devices[s]));
      begin = stages->ends[s];
    }
    EXPECT_EQ(begin, static_cast<int>(line.segments.size()));
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
  line.transfer = [](int, int, int64_t) { return 0; };
  line.equal = [](int, int) { return true; };
  EXPECT_EQ(SearchStages(line, 1)->ends, std::vector<int>({6}));
  EXPECT_EQ(SearchStages(line, 2)->ends, std::vector<int>({3, 6}));
  EXPECT_EQ(SearchStages(line, 3)->ends, std::vector<int>({2, 4, 6}));
  EXPECT_EQ(SearchStages(line, 3)->devices, std::vector<int>({0, 1, 2}));
  EXPECT_EQ(SearchStages(line, 0)->devices.size(), 3u);
}

TEST(StageSearchTest, ManyUnequalDevicesAreTriedOnlyInLikelyOrders) {
  std::mt19937 random(5);
  StageLine line = RandomLine(40, 8, random);
  for (LineSegment& segment : line.segments) {
    for (double& s : segment.seconds) s = std::min(s, 9.0);
  }
  line.limits.assign(8, 100000);
  line.transfer = [](int, int, int64_t) { return 0; };
  line.likely_orders = {{7, 6, 5, 4, 3, 2, 1, 0}};
  const std::optional<Stages> stages = SearchStages(line, 0);
  ASSERT_TRUE(stages.has_value());
  for (size_t s = 0; s < stages->devices.size(); ++s) {
    EXPECT_EQ(stages->devices[s], 7 - static_cast<int>(s));
  }
}

}  // namespace
}  // namespace partita
