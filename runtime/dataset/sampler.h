// Orders samples, assigns them to batches, and the samples of a batch to ranks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_SAMPLER_H_
#define PARTITA_RUNTIME_DATASET_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace partita {

// Handling of the last samples of an epoch, if they are fewer than a batch.
enum class LastBatch {
  kUneven,  // a smaller batch
  kPad,     // a whole batch, padded with the epoch's first samples
  kDrop,    // no batch
};

struct SamplerOptions {
  int64_t batch_size = 1;  // samples of one step, over all ranks
  int64_t ranks = 1;
  int64_t rank = 0;
  bool shuffle = true;
  uint64_t seed = 0;
  LastBatch last = LastBatch::kUneven;
};

// The samples of one batch that one rank reads.
struct BatchShare {
  std::vector<int64_t> samples;
  int64_t first = 0;  // position of samples[0] in the batch
  // The first `num_counted` samples belong to the batch. Those after them are
  // padding and must not count, because they occur elsewhere in the epoch.
  int64_t num_counted = 0;
  int64_t batch_counted = 0;  // samples without padding, over all ranks
};

// Every epoch is an order of all samples, split into consecutive batches. Each
// sample counts once in an epoch, or, at its end with kDrop, not at all. A
// batch is sharded over the ranks like a split dimension over devices
// (graph/placement.h): rank r of d has positions [r*n/d, (r+1)*n/d). So the
// shards of all ranks, in their order, are the batch of a single rank, and a
// step over any number of ranks sees what one device would see. Everything
// depends only on the options. Thread safety: immutable.
class Sampler {
 public:
  // InvalidArgument if there is no batch, or no such rank.
  static absl::StatusOr<Sampler> Create(int64_t num_samples,
                                        const SamplerOptions& options);

  int64_t num_samples() const { return num_samples_; }
  // In an epoch.
  int64_t num_batches() const { return num_batches_; }
  // The largest number of samples that this rank reads for a batch.
  int64_t max_share() const;

  // All samples in the order of epoch `epoch`; the same for all ranks.
  std::vector<int64_t> Order(int64_t epoch) const;
  // This rank's shard of a batch in an epoch with this order.
  BatchShare Share(absl::Span<const int64_t> order, int64_t batch) const;

 private:
  Sampler(int64_t num_samples, const SamplerOptions& options);
  // Positions in a batch, padding included.
  int64_t Places(int64_t batch) const;
  int64_t Begin(int64_t rank, int64_t places) const;

  int64_t num_samples_;
  SamplerOptions options_;
  int64_t num_batches_;
};

// A uniformly random permutation of 0 .. count - 1, the same on every machine.
// The shuffle of Fisher and Yates (Durstenfeld 1964): for i = count - 1 .. 1,
// swaps element i with element j of 0 .. i, where j is drawn without bias
// (Lemire 2019) from the 64-bit words of Philox4x32-10, whose counter is
// (block, epoch) and whose key is the seed.
std::vector<int64_t> ShuffledOrder(int64_t count, uint64_t seed,
                                   uint64_t epoch);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_SAMPLER_H_
