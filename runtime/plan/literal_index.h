// Finds the literals of a module by their content.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_
#define PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"

namespace partita {

// An index of the literals that the pool has now. Computes the hash of each
// literal, so literals of mapped files should have theirs already.
class LiteralIndex {
 public:
  explicit LiteralIndex(const LiteralPool& pool);

  std::optional<LiteralId> Find(const TensorType& type,
                                const ContentHash& hash) const;
  void Add(const TensorType& type, const ContentHash& hash, LiteralId id);

 private:
  absl::flat_hash_map<std::pair<std::string, ContentHash>, LiteralId> ids_;
};

// The initial value of a `constant` or `variable` node, unsharded; none for
// other nodes, and for variables that the module does not have.
std::optional<LiteralId> InitialLiteral(const Module& module,
                                        const Graph& graph, NodeId node);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_LITERAL_INDEX_H_
