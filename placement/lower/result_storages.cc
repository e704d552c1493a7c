// Finds the variable that each update belongs to.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/result_storages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"

namespace partita {

absl::Status ResultStorages::FindUpdates() {
  absl::flat_hash_map<std::string, NodeId> by_name;
  for (const OpView& op : draft_.graph->ops(kVariable)) {
    by_name.emplace(op.attr_string("name"), op.id());
  }
  for (const VariableUpdate& update : draft_.graph->updates()) {
    const auto it = by_name.find(update.variable);
    const NodeId maker = draft_.graph->value(update.value).defining_node;
    const bool ready = it != by_name.end() && maker.valid() &&
                       (draft_.graph->view(maker).is(kCopy) ||
                        draft_.graph->view(maker).is(kReorder));
    if (!ready || !variables_.emplace(update.value, it->second).second) {
      return absl::FailedPreconditionError(absl::StrCat(
          "bug: @", draft_.graph->name(), ": found an update of ",
          update.variable,
          " whose value is not copied to the devices of the variable; expected "
          "one copy per update; run partition first"));
    }
  }
  return absl::OkStatus();
}

absl::Status ResultStorages::Assign(const OpView& op, ShardId to) {
  const auto update = variables_.find(draft_.shards[to].value);
  if (update == variables_.end()) {
    AssignNew(to);
    return absl::OkStatus();
  }
  const ValueId variable = draft_.graph->node(update->second).results[0];
  const ShardId home =
      draft_.ShardOn(variable, draft_.shards[to].device, kFirstMicroBatch);
  bool fits = home.valid() &&
              draft_.shards[home].type == draft_.shards[to].type &&
              draft_.shards[home].rank == draft_.shards[to].rank;
  // A kernel must not overwrite what it still reads.
  for (ValueId operand : op.node().operands) {
    const ShardId read = draft_.ShardOn(operand, draft_.shards[to].device,
                                        draft_.shards[to].micro_batch);
    fits = fits && (op.is(kCopy) || !read.valid() ||
                    draft_.shards[read].storage != draft_.shards[home].storage);
  }
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(),
        ": found an update whose value does not match its variable; expected "
        "the devices, sharding and layout of the variable; run partition "
        "first"));
  }
  draft_.shards[to].storage = draft_.shards[home].storage;
  draft_.shards[to].updated = true;
  return absl::OkStatus();
}

void ResultStorages::AssignNew(ShardId shard) {
  Shard& p = draft_.shards[shard];
  p.storage = draft_.AddStorage(p.device, p.bytes);
}

}  // namespace partita
