// How long stages of a training wait for each other: with strategy `pipeline`,
// and with pins for comparison.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_
#define PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/partita.h"

namespace partita {

struct StageCase {
  int stages = 4;
  int micro_batches = 8;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  // The devices' speed relative to sample_machines.h.
  double speed = 1;

  std::string ToString() const;
};

// Two and four stages, eight and 32 micro-batches, 1F1B and GPipe.
std::vector<StageCase> AllStageCases(double speed = 1);

// A model trained with cross entropy, and the pins that an expert would write
// for its stages.
struct StagedModel {
  const char* name;
  Module (*make)();
  std::vector<Pin> (*pins)(int stages);
};
// Four blocks, and the four layers of MNIST's network, which are unequal.
extern const StagedModel kStagedGpt;
extern const StagedModel kStagedMnist;

// On as many equal devices as there are stages: with pins, or by strategy
// `pipeline` if there are none.
absl::StatusOr<Compiled> InStages(Module module, const StageCase& stage_case,
                                  const std::vector<Pin>& pins = {});

// The share of the stages' time in which they wait if a step takes `seconds`,
// and for the predicted seconds.
double BubbleOf(const Compiled& compiled, double seconds);
double BubbleOf(const Compiled& compiled);
// For equal stages, which wait while the pipeline fills and drains.
double BubbleOfTheBook(const StageCase& stage_case);
// If the launch order lets weight gradients wait, which no other stage needs,
// and runs them in the bubbles (ZB-H1 of "Zero bubble pipeline parallelism",
// Qi et al., 2023; backward passes of twice a forward pass's work).
double LeastBubble(const StageCase& stage_case);
// One percentage point more than that or, if stages cannot be equal, the bubble
// of a step that takes 4 % more than with pins.
absl::StatusOr<double> MostBubble(const StagedModel& model,
                                  const StageCase& stage_case,
                                  const Compiled& found);

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_
