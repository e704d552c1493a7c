// Batches that are read ahead of the step that needs them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_LOADER_H_
#define PARTITA_RUNTIME_DATASET_LOADER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "runtime/dataset/dataset.h"
#include "runtime/dataset/sampler.h"

namespace partita {

struct LoaderOptions {
  int workers = 1;  // threads that read
  int buffers = 3;  // batches in memory: being read, waiting, or in use
  // Where the loader begins, for example in a resumed run, and before which
  // epoch it ends. Batches of the next epoch are read ahead like all others.
  int64_t first_epoch = 0;
  int64_t first_batch = 0;
  int64_t end_epoch = 1;
};

class Loader;

// One batch. Its destructor returns the buffers to the loader, which must still
// exist.
class LoadedBatch {
 public:
  LoadedBatch(LoadedBatch&& other) noexcept;
  LoadedBatch& operator=(LoadedBatch&& other) noexcept;
  ~LoadedBatch();

  int64_t epoch() const;
  int64_t batch() const;  // its number in the epoch
  const BatchShare& share() const;
  // Field `i` of all samples of this rank: [samples, ...], aligned to 64 bytes.
  const HostTensor& field(int i) const;
  // The same, for callers that change padding samples, for example to labels
  // that the loss ignores.
  HostTensor& field(int i);

 private:
  friend class Loader;
  LoadedBatch(Loader* loader, int slot) : loader_(loader), slot_(slot) {}

  Loader* loader_;  // null: moved from
  int slot_;
};

// Workers fill a ring of buffers, which are allocated once, while the caller
// computes. The batches and their order are those of the sampler, whatever the
// number of workers. An error ends the sequence at its batch; earlier batches
// are still returned.
//
// Thread safety: Next and the batches are for one thread at a time. The loader
// reads the dataset from several threads.
class Loader {
 public:
  // InvalidArgument for options out of range, and for a sampler for another
  // number of samples. Throws std::system_error if a thread cannot be started,
  // after the started threads have ended.
  static absl::StatusOr<std::unique_ptr<Loader>> Create(
      SharedDataset dataset, const Sampler& sampler,
      const LoaderOptions& options);
  // Stops the workers after their current sample.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch; waits until it is read. Empty after the last epoch; after
  // an error, the same error. FailedPrecondition if the caller holds all
  // buffers.
  absl::StatusOr<std::optional<LoadedBatch>> Next();

  // The time that calls of Next have waited for batches.
  double seconds_waited() const { return seconds_waited_; }

 private:
  friend class LoadedBatch;
  struct Slot;
  struct EpochOrder {
    int64_t epoch = -1;
    std::vector<int64_t> samples;
  };

  Loader(SharedDataset dataset, const Sampler& sampler,
         const LoaderOptions& options);
  void Work();
  // The slot of the next batch that no worker has claimed, once the previous
  // batch in this slot was returned; null: no more batches.
  Slot* Claim();
  absl::Status Fill(Slot& slot);
  void Publish(Slot& slot, absl::Status status);
  void Release(int slot);
  BatchShare ShareOf(int64_t epoch, int64_t batch);

  const SharedDataset dataset_;
  const Sampler sampler_;
  const LoaderOptions options_;
  // Counted from the first batch that this loader returns.
  const int64_t num_batches_;

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards what follows, and the slots' states
  std::condition_variable freed_;
  std::condition_variable filled_;
  std::vector<Slot> slots_;  // batch b is in slot b mod size
  int64_t next_claimed_ = 0;
  int64_t next_handed_ = 0;
  double seconds_waited_ = 0;

  std::mutex orders_mutex_;
  EpochOrder orders_[2];  // of the workers' epochs, by epoch mod 2

  std::vector<std::thread> workers_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_LOADER_H_
