// Which samples make up each batch, and which of them each rank reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_SAMPLER_H_
#define PARTITA_RUNTIME_DATASET_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace partita {

// What becomes of the samples at an epoch's end that are fewer than a batch.
enum class LastBatch {
  kUneven,  // a smaller batch
  kPad,     // a whole batch, filled up with the epoch's first samples
  kDrop,    // nothing
};

struct SamplerOptions {
  int64_t batch_size = 1;  // samples of one step, over all ranks
  int64_t ranks = 1;
  int64_t rank = 0;
  bool shuffle = true;
  uint64_t seed = 0;
  LastBatch last = LastBatch::kUneven;
};

// What one rank reads of one batch.
struct BatchShare {
  std::vector<int64_t> samples;
  int64_t first = 0;  // place of samples[0] in the batch
  // The first so many samples are the batch's own; those behind only fill it up
  // and must not count: they occur elsewhere in the epoch.
  int64_t num_counted = 0;
  int64_t batch_counted = 0;  // own samples of the batch, over all ranks
};

// Every epoch is an order of all samples and is cut into batches one after
// another; each sample counts once an epoch, or, at its end under kDrop, not at
// all. A batch is divided among the ranks as a split dimension among devices
// (graph/placement.h): rank r of d has the places [r*n/d, (r+1)*n/d). So the
// shares of all ranks, in their order, are the batch of one rank alone, and a
// step over any number of ranks sees what one device would see. All is a
// function of the options. Thread safety: never changes.
class Sampler {
 public:
  // InvalidArgument if there is no batch, or no such rank.
  static absl::StatusOr<Sampler> Create(int64_t num_samples,
                                        const SamplerOptions& options);

  int64_t num_samples() const { return num_samples_; }
  // In an epoch.
  int64_t num_batches() const { return num_batches_; }
  // No share of this rank has more samples.
  int64_t max_share() const;

  // All samples as epoch `epoch` has them; the same for all ranks.
  std::vector<int64_t> Order(int64_t epoch) const;
  // This rank's part of a batch of the epoch that has this order.
  BatchShare Share(absl::Span<const int64_t> order, int64_t batch) const;

 private:
  Sampler(int64_t num_samples, const SamplerOptions& options);
  // Places in a batch, those that only fill it up included.
  int64_t Places(int64_t batch) const;
  int64_t Begin(int64_t rank, int64_t places) const;

  int64_t num_samples_;
  SamplerOptions options_;
  int64_t num_batches_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_SAMPLER_H_
