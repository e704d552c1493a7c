// Form of sharded variables: every shard of an updated variable is persistent.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/sharding_text.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/shards.h"

namespace partita {
namespace {

// One sharding of a variable: its name, type, sharding and number of ranks.
using ShardedVariable = std::tuple<std::string, std::string, std::string, int>;

struct PersistentShards {
  const EntryView* view = nullptr;
  NodeId node;             // a variable with this sharding
  std::vector<bool> kept;  // by rank
};

absl::flat_hash_set<std::string> UpdatedVariables(
    const std::vector<EntryView>& views) {
  absl::flat_hash_set<std::string> updated;
  for (const EntryView& view : views) {
    for (const VariableUpdate& update : view.graph().updates()) {
      updated.insert(update.variable);
    }
  }
  return updated;
}

void CheckKept(const PersistentShards& shards, Findings& findings) {
  const OpView variable = shards.view->graph().view(shards.node);
  const Sharding sharding = ResultSharding(variable.node(), 0);
  const int ranks = static_cast<int>(shards.kept.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const TensorType shard =
        TypeOfShard(variable.result_type(0), sharding, rank, ranks);
    if (shards.kept[rank] || shard.num_bytes() == 0) continue;
    findings.Add(shards.view->Found(
        Rule::kPersistent,
        absl::StrCat("variable ", variable.attr_string("name"), " (",
                     ShardingText(sharding), " over ", ranks,
                     " devices): found no persistent range for shard ", rank,
                     ", ", shard.ToString(),
                     "; expected one for every shard, as the updates of the "
                     "others are lost; keep it on ",
                     variable.node().placement.devices[rank])));
  }
}

}  // namespace

void CheckVariableShards(const std::vector<EntryView>& views,
                         Findings& findings) {
  const absl::flat_hash_set<std::string> updated = UpdatedVariables(views);
  std::map<ShardedVariable, PersistentShards> sharded;
  for (const EntryView& view : views) {
    for (const PersistentValue& value : view.entry->persistent) {
      const OpView node = view.graph().view(value.node);
      if (!node.is(kVariable)) continue;
      std::string name(node.attr_string("name"));
      const Sharding sharding = ResultSharding(node.node(), 0);
      if (!updated.contains(name) || sharding.kind != Sharding::Kind::kSplit) {
        continue;
      }
      const int ranks = NumRanks(node.node().placement);
      PersistentShards& shards =
          sharded[{std::move(name), node.result_type(0).ToString(),
                   ShardingText(sharding), ranks}];
      shards.view = &view;
      shards.node = value.node;
      shards.kept.resize(ranks);
      shards.kept[value.rank] = true;
    }
  }
  for (const auto& [variable, shards] : sharded) CheckKept(shards, findings);
}

}  // namespace partita
