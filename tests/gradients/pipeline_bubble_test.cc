// Predicted bubbles of the stages that strategy `pipeline` chooses.
// SPDX-License-Identifier: Apache-2.0

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tests/gradients/pipeline_bubbles.h"
#include "tests/gradients/pipeline_steps.h"

namespace partita {
namespace {

TEST(PipelineBubble, OfEqualLayersIsThatOfTheBookOrLess) {
  const PerceptronSizes sizes = {.layers = 8, .width = 128, .batch = 1024};
  for (const int micro_batches : {2, 4, 8}) {
    for (StageCase stage_case : AllStageCases()) {
      if (stage_case.stages != 4 || stage_case.micro_batches != 8) continue;
      stage_case.micro_batches = micro_batches;
      SCOPED_TRACE(stage_case.ToString());
      const auto compiled = InStages(PerceptronTraining(sizes), stage_case);
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      EXPECT_LE(BubbleOf(*compiled), BubbleOfTheBook(stage_case) + 0.12);
      EXPECT_GE(BubbleOf(*compiled), LeastBubble(stage_case));
    }
  }
}

class OfAModelWithClasses : public testing::TestWithParam<StagedModel> {};

// The number of labels that count is summed over all micro-batches before the
// first backward pass, but its node still runs in each micro-batch.
TEST_P(OfAModelWithClasses, IsThatOfTheBookOrOfPins) {
  for (const StageCase& stage_case : AllStageCases()) {
    SCOPED_TRACE(stage_case.ToString());
    const auto compiled = InStages(GetParam().make(), stage_case);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const double bubble = BubbleOf(*compiled);
    const auto most = MostBubble(GetParam(), stage_case, *compiled);
    ASSERT_TRUE(most.ok()) << most.status();
    EXPECT_LE(bubble, *most);
  }
}

INSTANTIATE_TEST_SUITE_P(PipelineBubble, OfAModelWithClasses,
                         testing::Values(kStagedGpt, kStagedMnist),
                         [](const auto& model) {
                           return std::string(model.param.name);
                         });

}  // namespace
}  // namespace partita
