// Tests that each measured command appears on its stream's track.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/measured_timeline.h"

#include "gtest/gtest.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

TEST(MeasuredTimelineTest, EveryCommandIsASpanOfItsStream) {
  TestSession session(FourStreamPlan());
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y, {.trace = true}).ok());
  const Plan& plan = session->plan();
  auto timeline = MeasuredTimeline(plan, plan.entries[0], session->devices(),
                                   session->LastTrace());
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  ASSERT_EQ(timeline->tracks.size(), 4u);
  EXPECT_EQ(timeline->tracks[1].device, "cpu:0");
  EXPECT_EQ(timeline->tracks[1].stream, "out");
  EXPECT_FALSE(timeline->tracks[1].emulated);
  ASSERT_EQ(timeline->spans.size(), 13u);
  EXPECT_EQ(timeline->spans[kSumCommand].name, "add %sum");
  EXPECT_EQ(timeline->spans[kSumCommand].category, "kernel");
  EXPECT_EQ(timeline->spans[0].name, "feed x");
  EXPECT_EQ(timeline->spans[2].name, "record ev0");
  EXPECT_EQ(timeline->spans[4].track, 1);
  for (const TraceSpan& span : timeline->spans) {
    EXPECT_LE(0, span.start);
    EXPECT_LE(span.start, span.end);
  }
}

TEST(MeasuredTimelineTest, AStepThatWasNotMeasuredHasNone) {
  TestSession session(OneStreamPlan());
  const Plan& plan = session->plan();
  EXPECT_EQ(MeasuredTimeline(plan, plan.entries[0], session->devices(), {})
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(MeasuredTimelineTest, TracksOfEmulatedDevicesSaySo) {
  TestSession session(OneStreamPlan(), RunOn::kVirtual);
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y, {.trace = true}).ok());
  const Plan& plan = session->plan();
  const auto timeline = MeasuredTimeline(
      plan, plan.entries[0], session->devices(), session->LastTrace());
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  ASSERT_EQ(timeline->tracks.size(), 1u);
  EXPECT_TRUE(timeline->tracks[0].emulated);
}

}  // namespace
}  // namespace partita
