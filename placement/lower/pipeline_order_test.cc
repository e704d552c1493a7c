// The orders of GPipe and 1F1B, stage by stage.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pipeline_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Units = IdVector<PipelineUnitId, PipelineUnit>;

// A forward and a backward unit for each of `stages` devices, in the order in
// which a micro-batch passes them.
Units Training(int stages) {
  Units units;
  const auto add = [&](PipelineUnit unit) {
    if (!units.empty()) unit.after = {PipelineUnitId(units.size() - 1)};
    units.Add(std::move(unit));
  };
  for (int s = 0; s < stages; ++s) {
    add({.level = s, .backward = false, .device = MachineDeviceId(s)});
  }
  for (int s = stages - 1; s >= 0; --s) {
    add({.level = 2 * (stages - 1) - s,
         .backward = true,
         .device = MachineDeviceId(s)});
  }
  return units;
}

// The units of a stage, in order: "F0 F1 B0 ...".
std::string OfStage(int stage, const Units& units,
                    const std::vector<UnitRun>& order) {
  std::string text;
  for (const UnitRun& run : order) {
    if (units[run.unit].device.index != stage) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    units[run.unit].backward ? "B" : "F",
                    run.micro_batch.index);
  }
  return text;
}

// Expects every unit once per micro-batch, after the units that it follows.
void ExpectInOrder(const Units& units, int micro_batches,
                   const std::vector<UnitRun>& order) {
  EXPECT_EQ(order.size(), units.size() * micro_batches);
  const auto place = [&](const UnitRun& run) {
    return std::find(order.begin(), order.end(), run) - order.begin();
  };
  for (size_t i = 0; i < order.size(); ++i) {
    for (PipelineUnitId before : units[order[i].unit].after) {
      EXPECT_LT(place({before, order[i].micro_batch}), i);
    }
  }
}

constexpr PipelineSchedule k1F1B = PipelineSchedule::kOneForwardOneBackward;

TEST(PipelineOrder, OneForwardOneBackward) {
  const Units units = Training(3);
  const std::vector<UnitRun> order = OrderUnits(units, 4, k1F1B);
  ExpectInOrder(units, 4, order);
  EXPECT_EQ(OfStage(0, units, order), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(OfStage(1, units, order), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(OfStage(2, units, order), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(PipelineOrder, GPipe) {
  const Units units = Training(3);
  const std::vector<UnitRun> order =
      OrderUnits(units, 4, PipelineSchedule::kGPipe);
  ExpectInOrder(units, 4, order);
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(OfStage(stage, units, order), "F0 F1 F2 F3 B0 B1 B2 B3");
  }
}

TEST(PipelineOrder, FewerMicroBatchesThanStages) {
  const Units units = Training(4);
  const std::vector<UnitRun> order = OrderUnits(units, 2, k1F1B);
  ExpectInOrder(units, 2, order);
  EXPECT_EQ(OfStage(0, units, order), "F0 F1 B0 B1");
  EXPECT_EQ(OfStage(3, units, order), "F0 B0 F1 B1");
}

TEST(PipelineOrder, OneDeviceFinishesAMicroBatchFirst) {
  const Units units = Training(1);
  EXPECT_EQ(OfStage(0, units, OrderUnits(units, 2, k1F1B)), "F0 B0 F1 B1");
  EXPECT_EQ(OfStage(0, units, OrderUnits(units, 2, PipelineSchedule::kGPipe)),
            "F0 F1 B0 B1");
}

TEST(PipelineOrder, InferenceHasNoBackwardUnits) {
  Units units;
  const PipelineUnitId first = units.Add({.device = MachineDeviceId(0)});
  units.Add({.level = 1, .device = MachineDeviceId(1), .after = {first}});
  const std::vector<UnitRun> order = OrderUnits(units, 3, k1F1B);
  ExpectInOrder(units, 3, order);
  EXPECT_EQ(OfStage(0, units, order), "F0 F1 F2");
}

// A placement that alternates between devices does not deadlock.
TEST(PipelineOrder, UnitsThatWaitForEachOtherAllRun) {
  Units units;
  units.Add({.device = MachineDeviceId(0), .after = {PipelineUnitId(1)}});
  units.Add(
      {.level = 1, .device = MachineDeviceId(1), .after = {PipelineUnitId(0)}});
  EXPECT_EQ(OrderUnits(units, 2, k1F1B).size(), 4u);
}

}  // namespace
}  // namespace partita
