// Losses: the number that training minimizes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_LOSSES_H_
#define PARTITA_GRAPH_BUILDER_LOSSES_H_

#include <cstdint>

#include "graph/builder/graph_builder.h"

namespace partita {

struct ClassLossOptions {
  // Label smoothing: the part of each example's weight that is spread evenly
  // over all classes (Szegedy et al. 2016).
  double label_smoothing = 0;
  // Examples with this label do not count, neither in the sum nor in the mean.
  int64_t ignore_index = -100;
};

// The mean negative log-likelihood of integer labels [n, d...] under
// log-probabilities [n, classes, d...]. A label that is not
// ignored and not in 0..classes - 1 ends the step with an error that names it.
// If all labels are ignored, the loss is a NaN and its gradient 0.
Tensor NllLoss(Tensor log_probabilities, Tensor labels,
               ClassLossOptions options = {},
               CallSite site = CallSite::current());

// The same for scores: takes their log-softmax over the classes first.
Tensor CrossEntropyLoss(Tensor scores, Tensor labels,
                        ClassLossOptions options = {},
                        CallSite site = CallSite::current());

struct SquareLossOptions {
  // Elements with a NaN target do not count, neither in the sum nor in the
  // mean.
  bool ignore_nan = false;
};

// The mean of squared differences.
Tensor MseLoss(Tensor x, Tensor target, SquareLossOptions options = {},
               CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_LOSSES_H_
