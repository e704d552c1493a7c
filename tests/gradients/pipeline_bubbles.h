// How long stages of a training wait for each other: cuts by strategy
// `pipeline`, and by pins to hold them against.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_
#define PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/partita.h"

namespace partita {

struct Cut {
  int stages = 4;
  int micro_batches = 8;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  // Of the devices, against those of sample_machines.h.
  double speed = 1;

  std::string ToString() const;
};

// Two and four stages, eight and 32 micro-batches, 1F1B and GPipe.
std::vector<Cut> AllCuts(double speed = 1);

// A model that is trained by cross entropy, and what somebody who knows it
// would write to cut it.
struct StagedModel {
  const char* name;
  Module (*make)();
  std::vector<Pin> (*pins)(int stages);
};
// Four blocks, and the four layers of MNIST's network, which are unequal.
extern const StagedModel kStagedGpt;
extern const StagedModel kStagedMnist;

// On as many equal devices as there are stages: where pins say, or by strategy
// `pipeline` if there are none.
absl::StatusOr<Compiled> InStages(Module module, const Cut& cut,
                                  const std::vector<Pin>& pins = {});

// The part of the stages' time in which they wait if a step takes `seconds`,
// and if it takes those that are predicted.
double BubbleOf(const Compiled& compiled, double seconds);
double BubbleOf(const Compiled& compiled);
// Of equal stages, which wait while the pipeline fills and drains.
double BubbleOfTheBook(const Cut& cut);
// A point more than that or, where stages cannot be equal, the bubble of a step
// that takes 4 % more than by pins.
absl::StatusOr<double> MostBubble(const StagedModel& model, const Cut& cut,
                                  const Compiled& found);

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_PIPELINE_BUBBLES_H_
