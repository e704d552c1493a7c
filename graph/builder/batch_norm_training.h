// Batch normalisation as training does it, with running statistics.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_
#define PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_

#include <string>

#include "graph/builder/graph_builder.h"

namespace partita {

struct BatchNormTrainingOptions {
  double momentum = 0.1;  // the batch's share of the running statistics
  double epsilon = 1e-5;
  // Into how many equal parts, one behind the other, the batch falls, each with
  // statistics of its own (ghost batch norm; Hoffer, Hubara and Soudry 2017).
  // Running statistics are then those of the first part. With as many parts as
  // there are replicas each has the statistics of what it is given, as in
  // PyTorch's DistributedDataParallel, and nothing is sent for them; the
  // numbers are the same on whatever devices the step runs.
  int parts = 1;
};

// x [n, channels, ...] by the batch's own mean and variance (Ioffe and Szegedy
// 2015), through which gradients flow. The variables `mean` and `variance`,
// declared as [channels], move toward the batch's mean and unbiased variance:
// what BatchNorm reads in evaluation. The variance is of two elements a channel
// or more, and follows from sums in f64 (docs/internals/numerics.md).
Tensor BatchNormTraining(Tensor x, Tensor scale, Tensor bias,
                         const std::string& mean, const std::string& variance,
                         BatchNormTrainingOptions options = {},
                         CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_
