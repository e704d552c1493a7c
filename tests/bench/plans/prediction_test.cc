// Tests of predicted and measured steps, on small plans.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/prediction.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

double Number(const std::string& cell) {
  double number = -1;
  EXPECT_TRUE(absl::SimpleAtod(cell, &number)) << cell;
  return number;
}

PredictionCase CaseOf(const std::string& key) {
  for (PredictionCase& plan_case : PredictionCases()) {
    if (plan_case.key() == key) return plan_case;
  }
  ADD_FAILURE() << "no plan " << key;
  return {};
}

TEST(Prediction, EveryModelIsPlannedInFiveWays) {
  std::set<std::string> keys;
  for (const PredictionCase& plan_case : PredictionCases()) {
    keys.insert(plan_case.key());
  }
  EXPECT_EQ(keys.size(), 5 * BenchmarkModels().size());
}

Machine TwoCpus() { return EqualCpus(2, int64_t{1} << 30); }

// Three plans. Without a profile, both predictions are the rooflines'.
TEST(Prediction, ARowHasPredictedAndMeasuredSteps) {
  for (const char* key :
       {"perceptron/single", "small_conv_net/list", "mnist_training/data"}) {
    const auto row = PredictionRow(CaseOf(key), TwoCpus(), TwoCpus(),
                                   {.rounds = 2, .steps = 1});
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->size(), kPredictionColumns.size());
    EXPECT_EQ(row->back(), "") << key;
    const double measured = Number((*row)[4]);
    EXPECT_LE(Number((*row)[5]), measured);
    EXPECT_GE(Number((*row)[6]), measured);
    EXPECT_GT(Number((*row)[7]), 0);
    EXPECT_EQ((*row)[7], (*row)[8]);
  }
}

TEST(Prediction, APlanThatIsRefusedSaysWhy) {
  const auto row = PredictionRow(CaseOf("resnet50/single"), EqualCpus(2, 1),
                                 EqualCpus(2, 1), {.rounds = 1, .steps = 1});
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_EQ(row->size(), kPredictionColumns.size());
  EXPECT_NE(row->back(), "");
  EXPECT_EQ((*row)[4], "");
}

TEST(Prediction, TheHalvesOfTheHostAreEqual) {
  const auto machine = HalvesOfHost();
  if (!machine.ok()) {
    EXPECT_EQ(machine.status().code(), absl::StatusCode::kFailedPrecondition);
    return;
  }
  ASSERT_EQ(machine->devices.size(), 2u);
  EXPECT_TRUE(
      SameButName(machine->devices[0].traits, machine->devices[1].traits));
  EXPECT_EQ(machine->devices[0].memory, machine->devices[1].memory);
  EXPECT_EQ(machine->links.size(), 1u);
}

}  // namespace
}  // namespace partita
