// The ops that a module may use, by name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_OP_SET_H_
#define PARTITA_GRAPH_OPS_OP_SET_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace partita {

struct OpDef;

// Only parsers and importers look ops up by name; everything else compares
// OpDef addresses. Thread safety: immutable after the last Add.
class OpSet {
 public:
  // The table of graph/ops.
  static const OpSet& BuiltIn();

  void Add(absl::Span<const OpDef* const> ops);
  const OpDef* Find(absl::string_view name) const;
  // In the order of addition.
  const std::vector<const OpDef*>& ops() const { return ops_; }

 private:
  std::vector<const OpDef*> ops_;
  absl::flat_hash_map<absl::string_view, const OpDef*> by_name_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_OP_SET_H_
