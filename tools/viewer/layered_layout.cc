// Layers each group by itself: an edge belongs to the innermost group that
// contains both ends.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/layered_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/viewer/scope_tree.h"

namespace partita {
namespace {

constexpr int kSweeps = 6;
// Lanes of one group; beyond that, edges run straight behind the boxes.
constexpr size_t kMaxLanes = 20000;

using Links = std::set<std::pair<int, int>>;  // items: from, to

class GroupLayerer {
 public:
  GroupLayerer(LayoutGroup& group, const Links& links)
      : group_(group), links_(links), layer_(group.items.size(), 0) {}

  void Run() {
    ChooseLayers();
    AddRoutes();
    SortLayers();
  }

 private:
  // Items are in the order of their first boxes, so an edge that goes back
  // would close a cycle and is skipped.
  void ChooseLayers() {
    std::vector<int> lowest(layer_.size(), -1);  // layer of the first reader
    std::vector<bool> reads(layer_.size(), false);
    for (const auto& [from, to] : links_) {
      if (from >= to) continue;
      layer_[to] = std::max(layer_[to], layer_[from] + 1);
      reads[to] = true;
    }
    for (const auto& [from, to] : links_) {
      if (from >= to) continue;
      lowest[from] =
          lowest[from] < 0 ? layer_[to] : std::min(lowest[from], layer_[to]);
    }
    for (size_t i = 0; i < layer_.size(); ++i) {
      if (!reads[i] && lowest[i] > 0) layer_[i] = lowest[i] - 1;
    }
    const int count = layer_.empty()
                          ? 0
                          : *std::max_element(layer_.begin(), layer_.end()) + 1;
    group_.layers.resize(count);
    for (size_t i = 0; i < layer_.size(); ++i) {
      group_.layers[layer_[i]].push_back(static_cast<int>(i));
    }
  }

  void AddRoutes() {
    std::map<std::pair<int, int>, int> lanes;  // by source and layer
    for (const auto& [from, to] : links_) {
      LayoutRoute route = {from, to, {}};
      for (int l = layer_[from] + 1; l < layer_[to]; ++l) {
        const auto found = lanes.find({from, l});
        if (found != lanes.end()) {
          route.lanes.push_back(found->second);
        } else if (lanes.size() < kMaxLanes) {
          const int lane = static_cast<int>(group_.items.size());
          group_.items.push_back({LayoutItem::Kind::kLane, from});
          group_.layers[l].push_back(lane);
          layer_.push_back(l);
          lanes.emplace(std::make_pair(from, l), lane);
          route.lanes.push_back(lane);
        }
      }
      group_.routes.push_back(std::move(route));
    }
  }

  // Neighbours one layer above and below, by item.
  void FindNeighbours() {
    above_.resize(layer_.size());
    below_.resize(layer_.size());
    for (const LayoutRoute& route : group_.routes) {
      int at = route.from;
      for (size_t i = 0; i <= route.lanes.size(); ++i) {
        const int next = i < route.lanes.size() ? route.lanes[i] : route.to;
        if (layer_[next] == layer_[at] + 1) {
          below_[at].push_back(next);
          above_[next].push_back(at);
        }
        at = next;
      }
    }
  }

  void SortLayers() {
    FindNeighbours();
    place_.resize(layer_.size());
    for (const std::vector<int>& layer : group_.layers) Number(layer);
    const size_t count = group_.layers.size();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (size_t l = 1; l < count; ++l) Sort(group_.layers[l], above_);
      for (size_t l = count; l-- > 1;) Sort(group_.layers[l - 1], below_);
    }
  }

  // Positions are in 0 to 1, so layers of different lengths compare.
  void Number(const std::vector<int>& layer) {
    for (size_t i = 0; i < layer.size(); ++i) {
      place_[layer[i]] =
          (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
    }
  }

  void Sort(std::vector<int>& layer,
            const std::vector<std::vector<int>>& neighbours) {
    std::map<int, double> wish;
    for (int item : layer) {
      double sum = 0;
      for (int other : neighbours[item]) sum += place_[other];
      wish[item] = neighbours[item].empty()
                       ? place_[item]
                       : sum / static_cast<double>(neighbours[item].size());
    }
    std::stable_sort(layer.begin(), layer.end(),
                     [&](int a, int b) { return wish[a] < wish[b]; });
    Number(layer);
  }

  LayoutGroup& group_;
  const Links& links_;
  std::vector<int> layer_;  // by item
  std::vector<std::vector<int>> above_;
  std::vector<std::vector<int>> below_;
  std::vector<double> place_;
};

// The groups around a box, innermost last.
std::vector<int> PathTo(const ScopeTree& tree, int box) {
  std::vector<int> path;
  for (int g = tree.group_of[box]; g >= 0; g = tree.groups[g].parent) {
    path.push_back(g);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

class Layouter {
 public:
  explicit Layouter(const ViewedEntry& entry)
      : entry_(entry), tree_(GroupByScope(entry)) {}

  std::vector<LayoutGroup> Run() {
    AddItems();
    std::vector<Links> links(groups_.size());
    for (const EdgeView& edge : entry_.edges) {
      const std::vector<int> from = PathTo(tree_, edge.from);
      const std::vector<int> to = PathTo(tree_, edge.to);
      size_t shared = 1;
      while (shared < from.size() && shared < to.size() &&
             from[shared] == to[shared]) {
        ++shared;
      }
      links[from[shared - 1]].insert(
          {ItemOf(from, shared, edge.from), ItemOf(to, shared, edge.to)});
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      GroupLayerer(groups_[g], links[g]).Run();
    }
    return std::move(groups_);
  }

 private:
  // A group's position among its parent's items is that of its first box.
  void AddItems() {
    for (const ScopeGroup& group : tree_.groups) {
      groups_.push_back({group.name, group.parent, 0, {}, {}, {}, {}});
    }
    item_of_box_.resize(entry_.boxes.size());
    item_of_group_.assign(groups_.size(), -1);
    std::vector<std::set<int>> devices(groups_.size());
    for (size_t b = 0; b < entry_.boxes.size(); ++b) {
      const std::vector<int> path = PathTo(tree_, static_cast<int>(b));
      for (size_t i = 0; i < path.size(); ++i) {
        ++groups_[path[i]].num_boxes;
        devices[path[i]].insert(entry_.boxes[b].devices.begin(),
                                entry_.boxes[b].devices.end());
        if (i == 0 || item_of_group_[path[i]] >= 0) continue;
        item_of_group_[path[i]] =
            AddItem(path[i - 1], LayoutItem::Kind::kGroup, path[i]);
      }
      item_of_box_[b] =
          AddItem(path.back(), LayoutItem::Kind::kBox, static_cast<int>(b));
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].devices.assign(devices[g].begin(), devices[g].end());
    }
  }

  int AddItem(int group, LayoutItem::Kind kind, int index) {
    groups_[group].items.push_back({kind, index});
    return static_cast<int>(groups_[group].items.size()) - 1;
  }

  // The item of the box in the group path[shared - 1].
  int ItemOf(const std::vector<int>& path, size_t shared, int box) const {
    return shared < path.size() ? item_of_group_[path[shared]]
                                : item_of_box_[box];
  }

  const ViewedEntry& entry_;
  const ScopeTree tree_;
  std::vector<LayoutGroup> groups_;
  std::vector<int> item_of_box_;
  std::vector<int> item_of_group_;
};

}  // namespace

std::vector<LayoutGroup> LayOut(const ViewedEntry& entry) {
  return Layouter(entry).Run();
}

}  // namespace partita
