// Builds the tree of scopes and removes groups without information.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/scope_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

constexpr size_t kMaxDepth = 12;   // deeper groups are merged
constexpr size_t kMostItems = 32;  // of a group
constexpr size_t kRunLength = 16;

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

// Makes groups of the consecutive items of a group with many, so that a reader
// sees few at a time, and a page draws few.
class LongGroupSplitter {
 public:
  LongGroupSplitter(const ViewedEntry& entry, const ScopeTree& tree)
      : entry_(entry), tree_(tree), items_(tree.groups.size()) {
    result_.groups.push_back(tree.groups[0]);
    result_.group_of.resize(tree.group_of.size());
    ListItems();
  }

  ScopeTree Run() {
    Place(std::move(items_[0]), 0);
    return std::move(result_);
  }

 private:
  // A box, a group or a run of items.
  struct Item {
    int box = -1;
    int group = -1;
    std::vector<Item> run;
    std::string first;  // names
    std::string last;
    BoxView::Kind kind = BoxView::Kind::kNode;
    std::vector<int> devices;
  };

  // In the order of their first boxes.
  void ListItems() {
    std::vector<bool> listed(tree_.groups.size(), false);
    listed[0] = true;
    for (size_t b = 0; b < entry_.boxes.size(); ++b) {
      const BoxView& box = entry_.boxes[b];
      Item item{.box = static_cast<int>(b),
                .first = box.name,
                .last = box.name,
                .kind = box.kind,
                .devices = box.devices};
      int group = tree_.group_of[b];
      items_[group].push_back(item);
      while (!listed[group]) {
        listed[group] = true;
        const ScopeGroup& own = tree_.groups[group];
        items_[own.parent].push_back({.group = group,
                                      .first = own.name,
                                      .last = own.name,
                                      .kind = box.kind,
                                      .devices = box.devices});
        group = own.parent;
      }
    }
  }

  // Inputs, nodes and outputs stay apart. A run also ends where the devices
  // change, if that does not make many short runs.
  std::vector<Item> Runs(std::vector<Item> items) const {
    const bool by_devices =
        CountRuns(items, /*by_devices=*/true) <= items.size() / 2;
    std::vector<Item> runs;
    for (Item& item : items) {
      if (runs.empty() || runs.back().run.size() >= kRunLength ||
          EndsRun(runs.back(), item, by_devices)) {
        runs.push_back(
            {.first = item.first, .kind = item.kind, .devices = item.devices});
      }
      runs.back().last = item.last;
      runs.back().run.push_back(std::move(item));
    }
    return runs;
  }

  static bool EndsRun(const Item& before, const Item& item, bool by_devices) {
    return before.kind != item.kind ||
           (by_devices && before.devices != item.devices);
  }

  static size_t CountRuns(const std::vector<Item>& items, bool by_devices) {
    size_t count = 0, length = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i == 0 || length >= kRunLength ||
          EndsRun(items[i - 1], items[i], by_devices)) {
        ++count;
        length = 0;
      }
      ++length;
    }
    return count;
  }

  void Place(std::vector<Item> items, int group) {
    while (items.size() > kMostItems) items = Runs(std::move(items));
    for (Item& item : items) PlaceItem(std::move(item), group);
  }

  void PlaceItem(Item item, int group) {
    if (item.box >= 0) {
      result_.group_of[item.box] = group;
    } else if (item.group >= 0) {
      Place(std::move(items_[item.group]),
            AddGroup(tree_.groups[item.group].name, group));
    } else if (item.run.size() == 1) {
      PlaceItem(std::move(item.run[0]), group);
    } else {
      const int run =
          AddGroup(absl::StrCat(item.first, " .. ", item.last), group);
      for (Item& inner : item.run) PlaceItem(std::move(inner), run);
    }
  }

  int AddGroup(std::string name, int parent) {
    result_.groups.push_back({std::move(name), parent});
    return static_cast<int>(result_.groups.size()) - 1;
  }

  const ViewedEntry& entry_;
  const ScopeTree& tree_;
  std::vector<std::vector<Item>> items_;  // by group of tree_
  ScopeTree result_;
};

}  // namespace

ScopeTree GroupByScope(const ViewedEntry& entry) {
  const ScopeTree tree = WithoutSingles(FullTree(Scopes(entry)));
  return LongGroupSplitter(entry, tree).Run();
}

}  // namespace partita
