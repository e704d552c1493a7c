// The values of a reference run: what every rank holds in every micro-batch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_REFERENCE_VALUES_H_
#define PARTITA_RUNTIME_EXECUTOR_REFERENCE_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "graph/id_vector.h"
#include "graph/ids.h"
#include "graph/placement.h"
#include "runtime/plan/plan.h"

namespace partita {

class ReferenceValues {
 public:
  // `entry` must outlive this. No value is known yet.
  explicit ReferenceValues(const Entry& entry);

  int micro_batches() const { return micro_batches_; }
  // The micro-batches that have a value of their own; the first if the value is
  // the same in all.
  IdRange<MicroBatchId> RunsOf(ValueId id) const { return values_[id].ids(); }
  Sharding ShardingOfValue(ValueId id) const;

  // Sets an input. `bytes` holds the whole values of all micro-batches in
  // sequence, and must outlive this.
  void SetInput(ValueId id, const void* bytes);
  // Adds what `device` holds of a value.
  void Keep(ValueId id, MicroBatchId micro_batch, const std::string& device,
            HostTensor tensor);
  // Drops the value if all its readers have called this.
  void Release(ValueId id);

  // What a reader in `micro_batch` reads on `device`: the shard there, else any
  // replica.
  const HostTensor& On(const std::string& device, ValueId id,
                       MicroBatchId micro_batch) const;
  // All shards joined.
  HostTensor Whole(ValueId id, MicroBatchId micro_batch) const;
  // The whole value with the type of a port: the value itself, or the values of
  // all micro-batches concatenated. A value that does not vary is repeated.
  HostTensor WholeAs(const TensorType& port, ValueId id) const;
  // Reduces partial results as collectives do: in the order of ranks.
  absl::StatusOr<HostTensor> Reduced(ValueId id, Reduction reduction,
                                     MicroBatchId micro_batch) const;

 private:
  // One value in one micro-batch: an instance for each rank of its device set,
  // or a single instance for all.
  struct Instances {
    std::vector<std::string> devices;
    std::vector<HostTensor> tensors;
  };

  void KeepInput(ValueId id, HostTensor whole, Instances& value) const;
  const Instances& At(ValueId id, MicroBatchId micro_batch) const;

  const Graph& graph_;
  const int micro_batches_;
  IdVector<ValueId, IdVector<MicroBatchId, Instances>> values_;  // by RunsOf
  IdVector<ValueId, int> readers_;  // that are still to run
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_REFERENCE_VALUES_H_
