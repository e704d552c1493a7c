// Finds the literals of a module by what they hold.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_
#define PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"

namespace partita {

// Over the literals that the pool has when this is made. Asks for each one's
// hash, so those of mapped files should know it already.
class LiteralIndex {
 public:
  explicit LiteralIndex(const LiteralPool& pool);

  std::optional<LiteralId> Find(const TensorType& type,
                                const ContentHash& hash) const;
  void Add(const TensorType& type, const ContentHash& hash, LiteralId id);

 private:
  absl::flat_hash_map<std::pair<std::string, ContentHash>, LiteralId> ids_;
};

// What a `constant` or `variable` node holds when a session starts, whole; none
// for other nodes, and for variables that the module does not have.
std::optional<LiteralId> InitialLiteral(const Module& module,
                                        const Graph& graph, NodeId node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_
