// Allocates persistent ranges in the order of first use.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/persistent.h"

#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/sharding_text.h"
#include "graph/status_macros.h"
#include "placement/lower/shards.h"
#include "placement/lower/transfers.h"

namespace partita {
namespace {

// Equal for storages that hold the same bytes.
std::string ContentKey(const PlanDraft& draft, const Storage& storage) {
  const OpView op = draft.graph->view(storage.source);
  const ValueId value = op.result(0).id();
  const Sharding sharding = ShardingOf(draft, value);
  std::string key =
      op.is(kVariable)
          ? absl::StrCat("variable ", op.attr_string("name"))
          : absl::StrCat("constant ", op.attr_literal("value").index);
  absl::StrAppend(&key, " ", op.result_type(0).ToString());
  if (sharding.kind == Sharding::Kind::kSplit) {
    absl::StrAppend(&key, " ", ShardingText(sharding), " ", storage.rank, " ",
                    op.node().placement.devices.size());
  }
  return key;
}

// The elements of `box`, row-major.
absl::StatusOr<HostTensor> ElementsOf(const HostTensor& whole, const Box& box,
                                      const TensorType& type) {
  const Box all{Shape(whole.type().rank(), 0), whole.type().dims};
  PARTITA_ASSIGN_OR_RETURN(const std::vector<RangePair> pairs,
                           TransfersBetween(all, box, BitsOf(type.dtype) / 8));
  HostTensor part(type);
  for (const RangePair& pair : pairs) {
    for (int64_t i = 0; i < pair.from.count; ++i) {
      std::memcpy(part.bytes() + pair.to.offset + i * pair.to.stride,
                  whole.bytes() + pair.from.offset + i * pair.from.stride,
                  pair.from.block);
    }
  }
  return part;
}

}  // namespace

absl::StatusOr<LiteralId> PersistentArenas::InitialOf(const PlanDraft& draft,
                                                      const Storage& storage,
                                                      const Module& module) {
  const OpView op = draft.graph->view(storage.source);
  const Variable* variable =
      op.is(kVariable) ? module.FindVariable(op.attr_string("name")) : nullptr;
  if (op.is(kVariable) && variable == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(), ": found no variable ", op.attr_string("name"),
        " in the module; expected its first value; add the variable"));
  }
  const LiteralId whole =
      variable != nullptr ? variable->initial : op.attr_literal("value");
  const ValueId value = op.result(0).id();
  const Sharding sharding = ShardingOf(draft, value);
  if (sharding.kind != Sharding::Kind::kSplit) return whole;
  const auto [it, inserted] =
      literal_shards_.emplace(ContentKey(draft, storage), whole);
  if (!inserted) return it->second;
  LiteralPool& literals = module.literals();
  if (!literals.has_bytes(whole) ||
      !literals.type(whole).layout.is_row_major() ||
      !op.result_type(0).layout.is_row_major()) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(),
        ": found a literal that is not loaded or not row-major; expected "
        "row-major bytes to split over ",
        op.node().placement.devices.size(), " devices; leave the value whole"));
  }
  const Box box = BoxOf(op.result_type(0), sharding, storage.rank,
                        static_cast<int>(op.node().placement.devices.size()));
  const Shard& shard =
      draft.shards[draft.ShardOf(value, storage.rank, kFirstMicroBatch)];
  PARTITA_ASSIGN_OR_RETURN(HostTensor part,
                           ElementsOf(literals.tensor(whole), box, shard.type));
  it->second = literals.Add(std::move(part));
  return it->second;
}

IdVector<StorageId, int64_t> PersistentArenas::Allocate(
    const PlanDraft& draft) {
  IdVector<StorageId, bool> used(draft.storages.size(), false);
  auto use = [&](const ShardAccess& access) {
    used[draft.shards[access.shard].storage] = true;
  };
  for (const Task& task : draft.tasks) {
    for (const ShardAccess& access : task.reads) use(access);
    for (const ShardAccess& access : task.writes) use(access);
  }
  IdVector<StorageId, int64_t> offsets(draft.storages.size(), -1);
  std::map<std::pair<MachineDeviceId, std::string>, int> seen;
  for (StorageId id : draft.storages.ids()) {
    const Storage& storage = draft.storages[id];
    // The plan lists an empty value even if no task accesses it, as the graph
    // does.
    if (!storage.persistent() || (!used[id] && storage.bytes > 0)) continue;
    // Two nodes of one function with equal content keep separate bytes.
    std::pair<MachineDeviceId, std::string> key{storage.device,
                                                ContentKey(draft, storage)};
    const int times = ++seen[key];
    if (times > 1) absl::StrAppend(&key.second, " again ", times);
    const auto [it, inserted] =
        offsets_.emplace(std::move(key), bytes_[storage.device]);
    if (inserted) bytes_[storage.device] += AlignUp(storage.bytes);
    offsets[id] = it->second;
  }
  return offsets;
}

absl::Status PersistentArenas::Place(PlanDraft& draft, const Module& module) {
  const IdVector<StorageId, int64_t> offsets = Allocate(draft);
  for (StorageId id : draft.storages.ids()) {
    Storage& storage = draft.storages[id];
    if (offsets[id] < 0) continue;
    storage.offset = offsets[id];
    PARTITA_ASSIGN_OR_RETURN(storage.initial,
                             InitialOf(draft, storage, module));
  }
  return absl::OkStatus();
}

absl::Status CheckVariablePlacements(const Module& module) {
  absl::flat_hash_set<std::string> updated;
  for (const auto& function : module.functions()) {
    for (const VariableUpdate& update : function->updates()) {
      updated.insert(update.variable);
    }
  }
  absl::flat_hash_map<std::string, Placement> placements;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops(kVariable)) {
      const std::string name(op.attr_string("name"));
      if (!updated.contains(name)) continue;
      const auto [it, inserted] = placements.emplace(name, op.node().placement);
      if (inserted || it->second == op.node().placement) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          op.ToString(), ": found variable ", name,
          " on other devices than elsewhere in the module; expected an updated "
          "variable on the same devices everywhere; pin it in every function"));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
