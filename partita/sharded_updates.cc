// Finds the copies that gather shards of weights.
// SPDX-License-Identifier: Apache-2.0

#include "partita/sharded_updates.h"

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/shard.h"

namespace partita {
namespace {

bool IsGathered(const Graph& graph, ValueId value) {
  const NodeId maker = graph.value(value).defining_node;
  if (!maker.valid()) return false;
  const OpView op = graph.view(maker);
  return op.is(kCopy) &&
         ShardingOf(op.node().placement.operands, 0).kind ==
             Sharding::Kind::kSplit &&
         ShardingOf(op.node().placement.results, 0).kind ==
             Sharding::Kind::kReplicated;
}

}  // namespace

ShardedUpdates CountShardedUpdates(const Module& module, const Graph& graph) {
  ShardedUpdates updates;
  for (const VariableUpdate& update : graph.updates()) {
    if (!module.FindVariable(update.variable)->trainable) continue;
    ++updates.all;
    if (IsGathered(graph, update.value)) ++updates.sharded;
  }
  return updates;
}

}  // namespace partita
