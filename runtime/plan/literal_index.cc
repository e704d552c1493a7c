// Literals by type and hash.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/literal_index.h"

#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {

LiteralIndex::LiteralIndex(const LiteralPool& pool) {
  for (int i = 0; i < pool.size(); ++i) {
    const LiteralId id(i);
    Add(pool.type(id), pool.hash(id), id);
  }
}

std::optional<LiteralId> LiteralIndex::Find(const TensorType& type,
                                            const ContentHash& hash) const {
  const auto it = ids_.find({type.ToString(), hash});
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

void LiteralIndex::Add(const TensorType& type, const ContentHash& hash,
                       LiteralId id) {
  ids_.emplace(std::pair(type.ToString(), hash), id);
}

std::optional<LiteralId> InitialLiteral(const Module& module,
                                        const Graph& graph, NodeId node) {
  const OpView view = graph.view(node);
  if (view.is(kConstant)) return view.attr_literal("value");
  if (!view.is(kVariable)) return std::nullopt;
  const Variable* variable = module.FindVariable(view.attr_string("name"));
  if (variable == nullptr || !variable->initial.valid()) return std::nullopt;
  return variable->initial;
}

}  // namespace partita
