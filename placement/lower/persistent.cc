// Persistent ranges, in the order in which functions first use them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/persistent.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/pieces.h"

namespace partita {
namespace {

// Equal for storages that hold the same bytes.
std::string ContentKey(const Draft& draft, const Storage& storage) {
  const OpView op = draft.graph->view(storage.source);
  const ValueId value = op.result(0).id();
  const Sharding sharding = ShardingOf(draft, value);
  std::string key =
      op.is(kVariable)
          ? absl::StrCat("variable ", op.attr_string("name"))
          : absl::StrCat("constant ", op.attr_literal("value").index);
  absl::StrAppend(&key, " ", op.result_type(0).ToString());
  if (sharding.kind == Sharding::Kind::kSplit) {
    absl::StrAppend(&key, " ", sharding.dim, " ", storage.member, " ",
                    op.node().placement.devices.size());
  }
  return key;
}

}  // namespace

void PersistentArenas::Place(Draft& draft) {
  std::vector<bool> used(draft.storages.size(), false);
  auto use = [&](const Touch& touch) {
    used[draft.pieces[touch.piece].storage] = true;
  };
  for (const Task& task : draft.tasks) {
    for (const Touch& touch : task.reads) use(touch);
    for (const Touch& touch : task.writes) use(touch);
  }
  std::map<std::pair<int, std::string>, int> seen;
  for (size_t i = 0; i < draft.storages.size(); ++i) {
    Storage& storage = draft.storages[i];
    if (!storage.persistent() || !used[i]) continue;
    // Two nodes of one function that hold the same bytes keep their own.
    std::pair<int, std::string> key{storage.device, ContentKey(draft, storage)};
    const int times = ++seen[key];
    if (times > 1) absl::StrAppend(&key.second, " again ", times);
    const auto [it, inserted] =
        addresses_.emplace(std::move(key), bytes_[storage.device]);
    if (inserted) bytes_[storage.device] += AlignUp(storage.bytes);
    storage.address = it->second;
  }
}

absl::Status CheckVariableHomes(const Module& module) {
  absl::flat_hash_set<std::string> updated;
  for (const auto& function : module.functions()) {
    for (const VariableUpdate& update : function->updates()) {
      updated.insert(update.variable);
    }
  }
  absl::flat_hash_map<std::string, Placement> homes;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops(kVariable)) {
      const std::string name(op.attr_string("name"));
      if (!updated.contains(name)) continue;
      const auto [it, inserted] = homes.emplace(name, op.node().placement);
      if (inserted || it->second == op.node().placement) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          op.ToString(), ": found variable ", name,
          " on other devices than elsewhere in the module; expected one home "
          "of a variable that is updated; pin it in every function"));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
