// Matches patterns with nodes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/constraint_groups.h"

#include <cstddef>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"
#include "graph/option_error.h"
#include "placement/cost/node_roles.h"
#include "placement/planner/match_pattern.h"

namespace partita {
namespace {

bool Matches(const std::string& pattern, const OpView& node) {
  if (MatchesPattern(pattern, node.node().scope)) return true;
  for (int i = 0; i < node.num_results(); ++i) {
    if (MatchesPattern(pattern, node.result(i).name())) return true;
  }
  return false;
}

bool MatchesAny(const Module& module, const std::string& pattern) {
  return absl::c_any_of(module.functions(), [&](const auto& function) {
    return absl::c_any_of(function->ops(), [&](const OpView& node) {
      return Matches(pattern, node);
    });
  });
}

absl::string_view OptionName(const Constraint& constraint) {
  return constraint.kind == Constraint::Kind::kTogether ? "together" : "apart";
}

}  // namespace

std::vector<std::vector<std::string>> GroupsOf(const Constraint& constraint) {
  if (constraint.kind == Constraint::Kind::kTogether) {
    return {constraint.patterns};
  }
  std::vector<std::vector<std::string>> groups;
  for (const std::string& pattern : constraint.patterns) {
    groups.push_back({pattern});
  }
  return groups;
}

std::string ConstraintText(const Constraint& constraint) {
  return absl::StrCat(OptionName(constraint), " ",
                      absl::StrJoin(constraint.patterns, ","));
}

absl::Status CheckConstraintPatterns(const Module& module,
                                     absl::Span<const Constraint> constraints) {
  for (const Constraint& constraint : constraints) {
    for (const std::string& pattern : constraint.patterns) {
      if (MatchesAny(module, pattern)) continue;
      return OfOption(
          OptionName(constraint),
          absl::InvalidArgumentError(absl::StrCat(
              ConstraintText(constraint), ": found no node with scope or ",
              "result name ", pattern, "; expected the name of one; ",
              "`partita compile --stop-after imported` prints the names")));
    }
  }
  return absl::OkStatus();
}

void WriteConstraints(Graph& graph, absl::Span<const Constraint> constraints) {
  std::vector<std::vector<std::string>> groups;
  for (const Constraint& constraint : constraints) {
    absl::c_move(GroupsOf(constraint), std::back_inserter(groups));
  }
  for (const OpView& node : graph.ops()) {
    if (IsStored(node)) continue;
    std::vector<int>& own = graph.node(node.id()).placement.groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool is_in_group = absl::c_any_of(
          groups[g],
          [&](const std::string& pattern) { return Matches(pattern, node); });
      if (is_in_group) own.push_back(static_cast<int>(g));
    }
  }
}

}  // namespace partita
