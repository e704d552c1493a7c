// Fingerprints items, and finds the distances at which they repeat.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/equal_blocks.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// One item alone is no block: equal_nodes.h finds those.
constexpr int kLeastLength = 2;
// The most frequent ones.
constexpr size_t kMostDistances = 8;
constexpr int kInNoBlock = -1;

class BlockFinder {
 public:
  BlockFinder(const PlanRequest& request, const Flow& flow)
      : request_(request), flow_(flow) {
    absl::flat_hash_map<std::string, int> numbers;
    for (size_t i = 0; i < flow.items.size(); ++i) {
      const bool is_pinned = request.pin(flow.items[i].node) != nullptr;
      fingerprint_.push_back(
          is_pinned
              ? kInNoBlock
              : numbers.try_emplace(TextOf(static_cast<int>(i)), numbers.size())
                    .first->second);
    }
  }

  std::vector<EqualBlocks> Run() {
    for (int distance : LikelyDistances()) FindAt(distance);
    absl::c_sort(blocks_, [](const EqualBlocks& a, const EqualBlocks& b) {
      return a.first < b.first;
    });
    return std::move(blocks_);
  }

 private:
  int Count() const { return static_cast<int>(fingerprint_.size()); }

  // "stored" is a constant or variable.
  absl::string_view SourceOf(ValueId operand) const {
    const FlowValue& value = flow_.values[request_.costs.root(operand)];
    if (value.maker < 0) return value.is_stored ? "stored" : "input";
    return request_.graph().view(flow_.items[value.maker].node).op_name();
  }

  std::string TextOf(int item) const {
    const OpView op = request_.graph().view(flow_.items[item].node);
    std::string text(op.op_name());
    for (int i = 0; i < op.num_operands(); ++i) {
      absl::StrAppend(&text, " ", op.operand_type(i).ToString(), " of ",
                      SourceOf(op.operand(i).id()));
    }
    for (int i = 0; i < op.num_results(); ++i) {
      absl::StrAppend(&text, " -> ", op.result_type(i).ToString());
    }
    return text;
  }

  // From each item to the last one before it with its fingerprint: most
  // frequent first, then shortest.
  std::vector<int> LikelyDistances() const {
    std::map<int, int> counts;
    std::vector<int> last(fingerprint_.size(), -1);
    for (int i = 0; i < Count(); ++i) {
      if (fingerprint_[i] == kInNoBlock) continue;
      int& before = last[fingerprint_[i]];
      if (before >= 0 && i - before >= kLeastLength) ++counts[i - before];
      before = i;
    }
    std::vector<std::pair<int, int>> order;  // -items, distance
    for (const auto& [distance, items] : counts) {
      order.emplace_back(-items, distance);
    }
    absl::c_sort(order);
    if (order.size() > kMostDistances) order.resize(kMostDistances);
    std::vector<int> distances;
    for (const auto& [items, distance] : order) distances.push_back(distance);
    return distances;
  }

  bool Repeats(int item, int distance) const {
    return fingerprint_[item] != kInNoBlock &&
           fingerprint_[item] == fingerprint_[item + distance];
  }

  // A run of `n` items that repeat at this distance is n / distance + 1 blocks.
  // Its items are then in no other block.
  void FindAt(int distance) {
    int begin = 0;
    for (int i = 0; i + distance <= Count(); ++i) {
      if (i + distance < Count() && Repeats(i, distance)) continue;
      if (i - begin >= distance) {
        const EqualBlocks found{begin, distance, (i - begin) / distance + 1};
        blocks_.push_back(found);
        std::fill_n(fingerprint_.begin() + begin, found.count * distance,
                    kInNoBlock);
      }
      begin = i + 1;
    }
  }

  const PlanRequest& request_;
  const Flow& flow_;
  std::vector<int> fingerprint_;  // by item, from 0 on
  std::vector<EqualBlocks> blocks_;
};

}  // namespace

std::vector<EqualBlocks> FindEqualBlocks(const PlanRequest& request,
                                         const Flow& flow) {
  return BlockFinder(request, flow).Run();
}

}  // namespace partita
