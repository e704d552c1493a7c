// Groups nodes by a text of op and types.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/equal_nodes.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"

namespace partita {
namespace {

std::string SignatureOf(const OpView& op) {
  std::string text(op.op_name());
  for (int i = 0; i < op.num_operands(); ++i) {
    absl::StrAppend(&text, " ", op.operand_type(i).ToString());
  }
  for (int i = 0; i < op.num_results(); ++i) {
    absl::StrAppend(&text, " -> ", op.result_type(i).ToString());
  }
  return text;
}

}  // namespace

std::vector<std::vector<NodeId>> EqualNodes(const PlanRequest& request) {
  absl::flat_hash_map<std::string, size_t> sets;
  std::vector<std::vector<NodeId>> equal;
  for (NodeId node : request.costs.order()) {
    if (!request.costs.computes(node) || request.pin(node) != nullptr) continue;
    const auto [set, is_new] =
        sets.try_emplace(SignatureOf(request.graph().view(node)), equal.size());
    if (is_new) equal.emplace_back();
    equal[set->second].push_back(node);
  }
  return equal;
}

}  // namespace partita
