// Builds the tree of scopes and removes groups without information.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/scope_tree.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

constexpr size_t kMaxDepth = 12;  // deeper groups are merged
constexpr int kRunLength = 16;

// Every box's scope; a box that the compiler inserted gets that of its first
// reader.
std::vector<std::string> Scopes(const ViewedEntry& entry) {
  std::vector<std::string> scopes;
  for (const BoxView& box : entry.boxes) scopes.push_back(box.scope);
  // Readers come after what they read, so theirs is known.
  for (auto edge = entry.edges.rbegin(); edge != entry.edges.rend(); ++edge) {
    const BoxView& from = entry.boxes[edge->from];
    if (from.kind != BoxView::Kind::kNode || !from.scope.empty()) continue;
    if (!scopes[edge->to].empty()) scopes[edge->from] = scopes[edge->to];
  }
  return scopes;
}

// Consecutive boxes on the same devices, named by the first and the last.
std::vector<std::string> Runs(const ViewedEntry& entry) {
  std::vector<int> nodes;
  for (size_t b = 0; b < entry.boxes.size(); ++b) {
    if (entry.boxes[b].kind == BoxView::Kind::kNode) {
      nodes.push_back(static_cast<int>(b));
    }
  }
  std::vector<std::string> scopes(entry.boxes.size());
  if (nodes.size() <= 2 * kRunLength) return scopes;
  for (size_t first = 0; first < nodes.size();) {
    size_t last = first;
    while (last + 1 < nodes.size() && last + 1 - first < kRunLength &&
           entry.boxes[nodes[last + 1]].devices ==
               entry.boxes[nodes[first]].devices) {
      ++last;
    }
    // A slash would make a scope.
    std::string name = absl::StrCat(entry.boxes[nodes[first]].name, " .. ",
                                    entry.boxes[nodes[last]].name);
    std::replace(name.begin(), name.end(), '/', '.');
    for (size_t i = first; i <= last; ++i) scopes[nodes[i]] = name;
    first = last + 1;
  }
  return scopes;
}

ScopeTree FullTree(const std::vector<std::string>& scopes) {
  ScopeTree tree;
  tree.groups.push_back({});
  std::map<std::pair<int, std::string>, int> known;
  for (const std::string& scope : scopes) {
    const std::vector<std::string> parts = absl::StrSplit(
        scope, absl::MaxSplits('/', kMaxDepth), absl::SkipEmpty());
    int group = 0;
    for (const std::string& part : parts) {
      const auto [it, added] = known.emplace(
          std::make_pair(group, part), static_cast<int>(tree.groups.size()));
      if (added) tree.groups.push_back({part, group});
      group = it->second;
    }
    tree.group_of.push_back(group);
  }
  return tree;
}

// The number of boxes and groups directly in each group.
std::vector<int> CountItems(const ScopeTree& tree) {
  std::vector<int> counts(tree.groups.size(), 0);
  for (int group : tree.group_of) ++counts[group];
  for (const ScopeGroup& group : tree.groups) {
    if (group.parent >= 0) ++counts[group.parent];
  }
  return counts;
}

// Removes groups with fewer than two items. The item moves up and, if it is a
// group, keeps both names.
ScopeTree WithoutSingles(const ScopeTree& tree) {
  const std::vector<int> counts = CountItems(tree);
  std::vector<int> becomes(tree.groups.size(), 0);
  std::vector<std::string> prefix(tree.groups.size());
  ScopeTree kept;
  kept.groups.push_back(tree.groups[0]);
  for (size_t g = 1; g < tree.groups.size(); ++g) {
    const int parent = tree.groups[g].parent;
    const std::string name = absl::StrCat(prefix[parent], tree.groups[g].name);
    if (counts[g] < 2) {
      becomes[g] = becomes[parent];
      prefix[g] = absl::StrCat(name, "/");
      continue;
    }
    becomes[g] = static_cast<int>(kept.groups.size());
    kept.groups.push_back({name, becomes[parent]});
  }
  for (int group : tree.group_of) kept.group_of.push_back(becomes[group]);
  return kept;
}

}  // namespace

ScopeTree GroupByScope(const ViewedEntry& entry) {
  std::vector<std::string> scopes = Scopes(entry);
  const bool any =
      std::any_of(scopes.begin(), scopes.end(),
                  [](const auto& scope) { return !scope.empty(); });
  if (!any) scopes = Runs(entry);
  return WithoutSingles(FullTree(scopes));
}

}  // namespace partita
