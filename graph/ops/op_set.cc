// Name lookup of ops.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_set.h"

#include "graph/op_def.h"
#include "graph/ops/op_list.h"

namespace partita {

const OpSet& OpSet::BuiltIn() {
  static const OpSet& set = *[] {
    auto* built_in = new OpSet;
    built_in->Add(absl::MakeSpan(kOpTable, kOpTableSize));
    return built_in;
  }();
  return set;
}

void OpSet::Add(absl::Span<const OpDef* const> ops) {
  for (const OpDef* op : ops) {
    if (by_name_.emplace(op->name, op).second) ops_.push_back(op);
  }
}

const OpDef* OpSet::Find(absl::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

}  // namespace partita
