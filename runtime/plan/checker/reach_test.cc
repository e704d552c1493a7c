// A participant of a collective orders only the participants that at least one
// of its bytes reaches.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/reach.h"

#include <gtest/gtest.h>

#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "runtime/plan/checker/testing/plan_description.h"

namespace partita {
namespace {

// gpu:1 copies !u from gpu:0, which was fed before gpu:0's rank of the
// all_gather. Of two rows each device gives one; a single row is gpu:1's.
constexpr absl::string_view kGather =
    R"(graph @f(%x: i8[2] on {gpu:0, gpu:1} -> (split 0),
    %u: i8[2] on gpu:0) -> (i8[2], i8[2]) {
  %g = copy %x : i8[2] on {gpu:0, gpu:1} (split 0) -> (replicated)
  %c = copy %u : i8[2] on gpu:1
  return %g, %c
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 8
  device gpu:1 cuda memory 100
    arena persistent 0 step 8
  entry @f of @f {
    input x i8[2]
    input u i8[2]
    output g i8[2]
    output c i8[2]
    arena gpu:0
      !x0 0 1
      !u 2 2
      !g0 4 2
    arena gpu:1
      !x1 0 1
      !g1 2 2
      !c 4 2
    stream gpu:0/s
      0 feed -> !x0 input 0
      1 feed -> !u input 1
      3 collective %g !x0 -> !g0 group 0
    stream gpu:1/s
      2 feed -> !x1 input 0
      4 collective %g rank 1 !x1 -> !g1 group 0
      5 copy %c !u -> !c
      6 fetch !g1 output 0
      7 fetch !c output 1
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";

TEST(Reach, AShardWithoutBytesOrdersNobody) {
  EXPECT_EQ(CheckerVerdict({}, kGather), "proved");
  const TextChanges one_row = {{"%x: i8[2]", "%x: i8[1]"},
                               {"-> (i8[2], i8[2])", "-> (i8[1], i8[2])"},
                               {"copy %x : i8[2]", "copy %x : i8[1]"},
                               {"input x i8[2]", "input x i8[1]"},
                               {"output g i8[2]", "output g i8[1]"},
                               {"!x0 0 1", "!x0 0 0"},
                               {"!g0 4 2", "!g0 4 1"},
                               {"!g1 2 2", "!g1 2 1"}};
  EXPECT_EQ(CheckerVerdict(one_row, kGather),
            "plan @f: command 5 reads gpu:0 !u (bytes 2..4) while command 1 "
            "may still write it\n  no event orders gpu:0/s before gpu:1/s; "
            "record an event after command 1 and wait for it before command "
            "5");
}

// If a scattered sum has one row, it is gpu:1's. gpu:0 takes nothing, so
// nothing is ordered before its rank.
constexpr absl::string_view kScatter =
    R"(graph @f(%x: i8[4, 2] on {gpu:0, gpu:1} -> (split 0),
    %u: i8[2] on gpu:1) -> (i8[2], i8[2]) {
  %p = reduce_sum %x {axes = [0], keep_dims = false} : i8[2] on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %r = copy %p : i8[2] on {gpu:0, gpu:1} (partial sum) -> (split 0)
  %c = copy %u : i8[2] on gpu:0
  return %r, %c
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 12
  device gpu:1 cuda memory 100
    arena persistent 0 step 12
  entry @f of @f {
    input x i8[4, 2]
    input u i8[2]
    output r i8[2]
    output c i8[2]
    arena gpu:0
      !x0 0 4
      !p0 4 2
      !r0 6 1
      !c 8 2
    arena gpu:1
      !x1 0 4
      !p1 4 2
      !r1 6 1
      !u 8 2
    stream gpu:0/s
      0 feed -> !x0 input 0
      1 kernel %p (!x0) -> !p0
      5 collective %r !p0 -> !r0 group 0
      7 copy %c !u -> !c
      8 fetch !r0 output 0
      9 fetch !c output 1
    stream gpu:1/s
      2 feed -> !x1 input 0
      3 feed -> !u input 1
      4 kernel %p rank 1 (!x1) -> !p1
      6 collective %r rank 1 !p1 -> !r1 group 0
      10 fetch !r1 output 0
    group 0 (gpu:0/s, gpu:1/s)
  }
}
)";

TEST(Reach, ARankThatTakesNoByteWaitsForNobody) {
  EXPECT_EQ(CheckerVerdict({}, kScatter), "proved");
  const TextChanges in_twos = {
      {"(partial sum) -> (split 0)", "(partial sum) -> (split 0 by 2)"},
      {"!r0 6 1", "!r0 6 0"},
      {"!r1 6 1", "!r1 6 2"}};
  EXPECT_EQ(CheckerVerdict(in_twos, kScatter),
            "plan @f: command 7 reads gpu:1 !u (bytes 8..10) while command 3 "
            "may still write it\n  no event orders gpu:1/s before gpu:0/s; "
            "record an event after command 3 and wait for it before command "
            "7");
}

// Rows 0..2, 2..4, 4..6 become none, 0..3 and 3..6: gpu:2 gets nothing from
// gpu:0, and gpu:0 gets nothing at all.
TEST(Reach, ReshardedRowsComeFromNeighbours) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[6] on {gpu:0, gpu:1, gpu:2} -> (split 0)) -> i8[6] {
  %y = copy %x : i8[6] on {gpu:0, gpu:1, gpu:2} (split 0) -> (split 0 by 3)
  return %y
}
)";
  const auto module = ParseModule(kText, "text", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const OpView copy = module->functions()[0]->ops().front();
  const Reach reach(copy, {CollectiveOf(copy), ParticipantsOf(copy)});
  const auto hears = [&](int taker, int giver) {
    const Reach::Sources from = reach.OfTaker(taker);
    const int source = reach.SourceOf(giver);
    return from.begin <= source && source < from.end;
  };
  for (const int giver : {0, 1, 2}) EXPECT_FALSE(hears(0, giver)) << giver;
  EXPECT_TRUE(hears(1, 0));
  EXPECT_TRUE(hears(1, 1));
  EXPECT_FALSE(hears(1, 2));
  EXPECT_FALSE(hears(2, 0));
  EXPECT_TRUE(hears(2, 1));
  EXPECT_TRUE(hears(2, 2));
}

}  // namespace
}  // namespace partita
