// Refuses flags of `partita train` that exclude each other, or that would lose
// a file.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_TRAIN_CHECKS_H_
#define PARTITA_TOOLS_PARTITA_TRAIN_CHECKS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/options/arguments.h"
#include "partita/train/trainable_model.h"
#include "tools/partita/trainable_models.h"

namespace partita {

// CalledWrongly for flags that need or exclude another one, and for an output
// that is an input or another training's checkpoint. Tries early the files that
// are written last. `flags` are the command's.
absl::Status CheckTrainFlags(const Arguments& arguments,
                             absl::Span<const FlagDef> flags);

// CalledWrongly if --drop-last leaves no batch.
absl::Status CheckDropLast(const Arguments& arguments,
                           const TrainableModel& model,
                           const TrainableKind& kind);

// CalledWrongly if batch norms have other shards of the batch than the replicas
// of `placed`: statistics are a replica's only if each has one.
absl::Status CheckReplicas(const Module& placed, int batch_norm_shards,
                           const Arguments& arguments);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_TRAIN_CHECKS_H_
