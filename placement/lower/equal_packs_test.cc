// Tests that equal problems share one search, and that no other ones do.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/equal_packs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace partita {
namespace {

constexpr int64_t kBudget = 20'000;

// Boxes with random bytes and live ranges; those that overlap conflict.
PackProblem RandomProblem(std::mt19937& random) {
  const auto next = [&](int bound) {
    return static_cast<int>(random() % static_cast<uint32_t>(bound));
  };
  PackProblem problem{.num_buffers = 40};
  for (PackBufferId buffer : problem.buffers()) {
    const int first = next(60);
    const PackIntervalId added =
        problem.intervals.Add({.buffer = buffer,
                               .begin = 0,
                               .end = 1 + next(900),
                               .first = first,
                               .last = first + next(12)});
    for (PackIntervalId other : IdRange<PackIntervalId>(added.index)) {
      const PackInterval& box = problem.intervals[added];
      const PackInterval& before = problem.intervals[other];
      if (box.first > before.last || before.first > box.last) continue;
      problem.intervals[added].conflicts.push_back(other);
      problem.intervals[other].conflicts.push_back(added);
    }
  }
  return problem;
}

PackProblem Later(PackProblem problem, int positions) {
  for (PackInterval& interval : problem.intervals) {
    interval.first += positions;
    interval.last += positions;
  }
  return problem;
}

std::vector<int64_t> OffsetsOf(const Packing& packing) {
  return {packing.offsets.begin(), packing.offsets.end()};
}

TEST(EqualPacks, ALaterProblemHasTheSamePackingWithoutASearch) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const PackProblem problem = RandomProblem(random);
    const PackProblem later = Later(problem, 1 + round);
    EqualPacks packs(kBudget);
    const auto alone = OffsetsOf(Pack(later, 0, kBudget));
    EXPECT_EQ(OffsetsOf(packs.Pack(problem, 0)), alone);
    EXPECT_EQ(OffsetsOf(packs.Pack(later, 0)), alone);
    EXPECT_EQ(packs.num_packed(), 1u);
  }
}

TEST(EqualPacks, OtherProblemsAreSearchedOnTheirOwn) {
  std::mt19937 random(6);
  const PackProblem problem = RandomProblem(random);
  PackProblem larger = problem;
  larger.intervals[PackIntervalId(3)].end += 64;
  PackProblem longer = problem;
  ++longer.intervals[PackIntervalId(3)].last;
  PackProblem freer = problem;
  freer.intervals[PackIntervalId(3)].conflicts.clear();
  EqualPacks packs(kBudget);
  const std::vector<const PackProblem*> others = {&problem, &larger, &longer,
                                                  &freer};
  for (const PackProblem* other : others) {
    EXPECT_EQ(OffsetsOf(packs.Pack(*other, 0)),
              OffsetsOf(Pack(*other, 0, kBudget)));
  }
  EXPECT_EQ(packs.num_packed(), 4u);
  packs.Pack(problem, 1);
  EXPECT_EQ(packs.num_packed(), 5u) << "another target";
}

TEST(EqualPacks, ProblemsWithoutBuffersAreEqual) {
  const PackProblem one, other;
  EqualPacks packs(kBudget);
  EXPECT_EQ(packs.Pack(one, 0).bytes, 0);
  EXPECT_EQ(packs.Pack(other, 0).bytes, 0);
  EXPECT_EQ(packs.num_packed(), 1u);
}

}  // namespace
}  // namespace partita
