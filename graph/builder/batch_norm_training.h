// Batch normalisation in training, with running statistics.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_
#define PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_

#include <string>

#include "graph/builder/graph_builder.h"

namespace partita {

struct BatchNormTrainingOptions {
  double momentum = 0.1;  // weight of the batch in the running statistics
  double epsilon = 1e-5;
  // The number of equal consecutive shards of the batch, each with its own
  // statistics (ghost batch norm; Hoffer, Hubara and Soudry 2017). The running
  // statistics are those of the first shard. With one shard for each replica
  // every replica uses its own statistics, as in PyTorch's
  // DistributedDataParallel, without communication. The numbers do not depend
  // on the devices of the step.
  int shards = 1;
};

// x [n, channels, ...] normalised by the batch's mean and variance (Ioffe and
// Szegedy 2015), through which gradients flow. The variables `mean` and
// `variance`, declared as [channels], move toward the batch's mean and unbiased
// variance; BatchNorm reads them in evaluation. The variance needs at least two
// elements for each channel, and is computed from sums in f64
// (docs/internals/numerics.md).
Tensor BatchNormTraining(Tensor x, Tensor scale, Tensor bias,
                         const std::string& mean, const std::string& variance,
                         BatchNormTrainingOptions options = {},
                         CallSite site = CallSite::current());

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_BATCH_NORM_TRAINING_H_
