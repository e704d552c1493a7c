// Tests of the heaviest antichain against all subsets.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/antichain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  int Below(int bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_;
};

// Commands on a few streams; a command sometimes waits for another stream. Each
// command begins a live range that some later commands access too. Such a
// command may know less than the one that begins the live range.
std::vector<StreamLiveRange> RandomLiveRanges(uint64_t seed, int streams,
                                              int commands) {
  Random random(seed);
  using Counts = IdVector<DeviceStreamId, int>;
  IdVector<DeviceStreamId, Counts> now(streams, Counts(streams, 0));
  std::vector<StreamLiveRange> live_ranges;
  for (int c = 0; c < commands; ++c) {
    const DeviceStreamId s(random.Below(streams));
    if (random.Below(3) == 0) {
      const Counts other = now[DeviceStreamId(random.Below(streams))];
      for (DeviceStreamId i : now.ids()) {
        now[s][i] = std::max(now[s][i], other[i]);
      }
    }
    const Counts known = now[s];
    const int position = ++now[s][s];
    for (StreamLiveRange& live_range : live_ranges) {
      if (random.Below(8) != 0) continue;
      live_range.ends.push_back({s, position});
      for (DeviceStreamId i : now.ids()) {
        live_range.known[i] = std::min(live_range.known[i], known[i]);
      }
    }
    live_ranges.push_back({.weight = 1 + random.Below(9),
                           .stream = s,
                           .position = position,
                           .known = known,
                           .ends = {{s, position}}});
  }
  return live_ranges;
}

int64_t BestSubset(const std::vector<StreamLiveRange>& live_ranges) {
  int64_t best = 0;
  const int n = static_cast<int>(live_ranges.size());
  for (int set = 0; set < 1 << n; ++set) {
    int64_t weight = 0;
    bool unordered = true;
    for (int a = 0; a < n && unordered; ++a) {
      if ((set >> a & 1) == 0) continue;
      weight += live_ranges[a].weight;
      for (int b = 0; b < n && unordered; ++b) {
        unordered = (set >> b & 1) == 0 || a == b ||
                    !EndsBefore(live_ranges[a], live_ranges[b]);
      }
    }
    if (unordered) best = std::max(best, weight);
  }
  return best;
}

TEST(Antichain, EqualsTheBestOfAllSubsets) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<StreamLiveRange> live_ranges =
        RandomLiveRanges(seed, 1 + static_cast<int>(seed % 4), 11);
    EXPECT_EQ(HeaviestAntichain(live_ranges), BestSubset(live_ranges))
        << "seed " << seed;
  }
}

// Checks that the samples include live ranges whose `known` decreases along a
// stream.
TEST(Antichain, SomeLiveRangesKnowLessThanEarlierOnes) {
  int fewer = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<StreamLiveRange> live_ranges =
        RandomLiveRanges(seed, 3, 11);
    for (size_t b = 0; b < live_ranges.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        fewer +=
            live_ranges[a].stream == live_ranges[b].stream &&
            absl::c_any_of(live_ranges[b].known.ids(), [&](DeviceStreamId s) {
              return live_ranges[b].known[s] < live_ranges[a].known[s];
            });
      }
    }
  }
  EXPECT_GT(fewer, 100);
}

TEST(Antichain, OfNoLiveRangesIsZero) { EXPECT_EQ(HeaviestAntichain({}), 0); }

}  // namespace
}  // namespace partita
