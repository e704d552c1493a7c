// Splits, joins and reduces what ranks hold.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/reference_values.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/types/span.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/executor/combine.h"
#include "runtime/plan/micro_batches.h"

namespace partita {

ReferenceValues::ReferenceValues(const Entry& entry)
    : graph_(*entry.graph),
      micro_batches_(CountMicroBatches(entry)),
      values_(graph_.value_id_bound()),
      readers_(graph_.value_id_bound()) {
  const std::vector<bool> varies = VaryingValues(entry);
  for (ValueId id : values_.ids()) {
    values_[id] = IdVector<MicroBatchId, Instances>(
        varies[id.index] ? micro_batches_ : 1);
    readers_[id] = static_cast<int>(graph_.value(id).uses.size());
  }
  for (ValueId id : graph_.outputs()) ++readers_[id];
  for (const VariableUpdate& update : graph_.updates()) {
    ++readers_[update.value];
  }
}

Sharding ReferenceValues::ShardingOfValue(ValueId id) const {
  const NodeId source = graph_.value(id).defining_node;
  if (!source.valid()) {
    return ShardingOf(graph_.input_placement(graph_.value(id).index).results,
                      0);
  }
  return ShardingOf(graph_.node(source).placement.results,
                    graph_.value(id).index);
}

void ReferenceValues::SetInput(ValueId id, const void* bytes) {
  const TensorType& type = graph_.type(id);
  const std::byte* next = static_cast<const std::byte*>(bytes);
  for (Instances& value : values_[id]) {
    KeepInput(id, HostTensor::ConstView(type, next), value);
    next += type.num_bytes();
  }
}

// Stores an input: the whole value if it has no device, else each rank's shard.
void ReferenceValues::KeepInput(ValueId id, HostTensor whole,
                                Instances& value) const {
  const Sharding sharding = ShardingOfValue(id);
  if (sharding.kind != Sharding::Kind::kSplit) {
    value.devices = {""};
    value.tensors.push_back(std::move(whole));
    return;
  }
  const auto& devices = graph_.input_placement(graph_.value(id).index).devices;
  const int ranks = static_cast<int>(devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    value.devices.push_back(devices[rank]);
    value.tensors.push_back(ShardOf(whole, sharding, rank, ranks));
  }
}

void ReferenceValues::Keep(ValueId id, MicroBatchId micro_batch,
                           const std::string& device, HostTensor tensor) {
  Instances& value = values_[id][micro_batch];
  value.devices.push_back(device);
  value.tensors.push_back(std::move(tensor));
}

void ReferenceValues::Release(ValueId id) {
  if (--readers_[id] > 0) return;
  for (Instances& value : values_[id]) value.tensors.clear();
}

const ReferenceValues::Instances& ReferenceValues::At(
    ValueId id, MicroBatchId micro_batch) const {
  const IdVector<MicroBatchId, Instances>& runs = values_[id];
  return runs[runs.size() > 1 ? micro_batch : kFirstMicroBatch];
}

const HostTensor& ReferenceValues::On(const std::string& device, ValueId id,
                                      MicroBatchId micro_batch) const {
  const Instances& value = At(id, micro_batch);
  for (size_t m = 0; m < value.devices.size(); ++m) {
    if (value.devices[m] == device) return value.tensors[m];
  }
  return value.tensors.front();
}

HostTensor ReferenceValues::Whole(ValueId id, MicroBatchId micro_batch) const {
  std::vector<const HostTensor*> shards;
  for (const HostTensor& shard : At(id, micro_batch).tensors) {
    shards.push_back(&shard);
  }
  return JoinShards(graph_.type(id), ShardingOfValue(id), shards);
}

HostTensor ReferenceValues::WholeAs(const TensorType& port, ValueId id) const {
  if (port == graph_.type(id)) return Whole(id, kFirstMicroBatch);
  HostTensor all(port);
  for (MicroBatchId m : IdRange<MicroBatchId>(micro_batches_)) {
    const HostTensor one = Whole(id, m);
    std::memcpy(all.bytes() + m.index * one.type().num_bytes(), one.bytes(),
                one.type().num_bytes());
  }
  return all;
}

absl::StatusOr<HostTensor> ReferenceValues::Reduced(
    ValueId id, Reduction reduction, MicroBatchId micro_batch) const {
  HostTensor reduced(graph_.type(id));
  PARTITA_ASSIGN_OR_RETURN(const CombineFunction combine,
                           FindCombine(reduced.type().dtype, reduction));
  std::vector<const std::byte*> summands;
  for (const HostTensor& summand : At(id, micro_batch).tensors) {
    summands.push_back(summand.bytes());
  }
  std::byte* const out = reduced.bytes();
  combine(summands, 0, absl::MakeConstSpan(&out, 1), 0,
          reduced.type().num_stored_elements());
  return reduced;
}

}  // namespace partita
