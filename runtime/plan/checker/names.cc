// Traces the names of bytes through ops that only move bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/shard.h"
#include "runtime/plan/checker/collective_rule.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// A value in more segments is not traced through its op: a command must compute
// it, or the plan is refused.
constexpr int64_t kMaxSegmentsOfValue = 4096;
constexpr int64_t kMaxSegments = int64_t{1} << 22;  // of all values
constexpr int64_t kSmallLiteral = int64_t{1} << 16;

bool AllRowMajor(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    if (!node.operand_type(i).layout.is_row_major()) return false;
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (!node.result_type(i).layout.is_row_major()) return false;
  }
  return true;
}

// A node that returns its only operand with the same type and layout.
bool IsIdentity(const OpView& node) {
  return IsCopy(node) && node.num_operands() == 1 && node.num_results() == 1 &&
         node.operand_type(0) == node.result_type(0);
}

std::optional<std::vector<ByteMove>> MovesOf(const OpView& node) {
  if (!IsIdentity(node)) return node.op().moves(node);
  const ByteMove all{.block = node.operand_type(0).num_bytes()};
  return std::vector<ByteMove>{all};
}

}  // namespace

// One pass in graph order, so that an operand has names before its readers.
Names::Names(const EntryView& view, const PortSlices& ports)
    : view_(view), segments_left_(kMaxSegments) {
  for (size_t d = 0; d < view.plan->devices.size(); ++d) {
    device_index_[view.plan->devices[d].traits.name] = static_cast<int32_t>(d);
  }
  const Graph& graph = view.graph();
  values_.resize(graph.value_id_bound());
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    NameInput(graph.inputs()[i], ports.input_sliced(static_cast<int>(i)));
  }
  for (NodeId id : graph.order()) NameResults(graph.view(id));
}

int32_t Names::AddRoot(ValueId value, bool varies) {
  roots_.push_back({.value = value, .varies = varies});
  return static_cast<int32_t>(roots_.size()) - 1;
}

int32_t Names::RootOfKey(const std::string& key, Root root) {
  auto [it, added] = root_of_key_.try_emplace(key, roots_.size());
  if (added) roots_.push_back(std::move(root));
  return it->second;
}

std::vector<int32_t> Names::DeviceIndices(const Placement& placement) const {
  std::vector<int32_t> indices;
  for (const std::string& name : placement.devices) {
    auto it = device_index_.find(name);
    if (it != device_index_.end()) indices.push_back(it->second);
  }
  return indices;
}

// A rank's partial sum is not contained in the whole value, and a shard in a
// blocked layout has its bytes in another order than the whole value.
bool Names::NamedLocally(const TensorType& type, const Sharding& sharding) {
  return sharding.kind == Sharding::Kind::kPartial ||
         (sharding.kind == Sharding::Kind::kSplit &&
          !type.layout.is_row_major());
}

void Names::NameInput(ValueId value, bool sliced) {
  const int64_t bytes = view_.graph().type(value).num_bytes();
  const int32_t root = AddRoot(value, sliced);
  Keep(value, {{0, bytes, root, {}, false}});
}

void Names::NameResults(const OpView& node) {
  if (node.is(kConstant) || node.is(kVariable)) return NameSource(node);
  if (node.is(kAccumulate)) return NameSum(node);
  if (NameMoved(node)) return;
  for (int r = 0; r < node.num_results(); ++r) NameOwn(node, r);
}

// Identifies one literal or variable in one layout.
std::string Names::SourceKey(const OpView& node) const {
  const TensorType& type = node.result_type(0);
  const Sharding sharding = ResultSharding(node.node(), 0);
  const int ranks = NumRanks(node.node().placement);
  std::string key = type.ToString();
  if (NamedLocally(type, sharding)) {
    absl::StrAppend(&key, " rank of ", ranks, " along ", sharding.dim, " by ",
                    sharding.unit);
  }
  if (node.is(kVariable)) {
    // Replicas differ from device to device; shards have no replicas.
    const bool sharded = sharding.kind == Sharding::Kind::kSplit;
    return absl::StrCat(sharded ? "shards of " : "", "variable ",
                        node.attr_string("name"), " ", key);
  }
  const LiteralId literal = node.attr_literal("value");
  const LiteralPool& literals = node.graph().literals();
  // Hashing reads all bytes, so large literals are identified by their ids.
  if (!literals.has_bytes(literal) ||
      literals.type(literal).num_bytes() <= kSmallLiteral) {
    return absl::StrCat("literal ", literals.hash(literal).ToString(), " ",
                        literals.type(literal).ToString(), " ", key);
  }
  return absl::StrCat("literal ", literal.index, " ", key);
}

void Names::NameSource(const OpView& node) {
  const ValueId value = node.result(0).id();
  Root source{.value = value};
  if (node.is(kVariable)) {
    source.text = absl::StrCat("variable ", node.attr_string("name"));
  }
  const int32_t root = RootOfKey(SourceKey(node), std::move(source));
  const Sharding sharding = ResultSharding(node.node(), 0);
  const int ranks = NumRanks(node.node().placement);
  if (NamedLocally(node.result_type(0), sharding)) {
    values_[value.index].local = root;
    values_[value.index].sharding = sharding;
    values_[value.index].ranks = ranks;
    return;
  }
  if (node.is(kVariable) && sharding.kind == Sharding::Kind::kReplicated) {
    for (int32_t device : DeviceIndices(node.node().placement)) {
      std::vector<int32_t>& devices = roots_[root].devices;
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
        devices.push_back(device);
      }
    }
  }
  Keep(value, {{0, node.result_type(0).num_bytes(), root, {}, false}});
}

void Names::NameOwn(const OpView& node, int result) {
  bool varies = ChangesWithMicroBatch(node);
  for (ValueId operand : node.node().operands) varies |= Varies(operand);
  values_[node.result(result).id().index] = OwnNames(node, result, varies);
}

// Readers see the whole sum, which is the same in every micro-batch.
void Names::NameSum(const OpView& node) {
  const int32_t value = node.result(0).id().index;
  values_[value] = OwnNames(node, 0, /*varies=*/false);
  const size_t first = roots_.size();
  sums_so_far_[value] = OwnNames(node, 0, /*varies=*/true);
  roots_[first].is_partial = true;
}

// The names of a result that is its own root.
Names::Named Names::OwnNames(const OpView& node, int result, bool varies) {
  const Sharding sharding = ResultSharding(node.node(), result);
  const int ranks = NumRanks(node.node().placement);
  const TensorType& type = node.result_type(result);
  const int32_t root = AddRoot(node.result(result).id(), varies);
  if (NamedLocally(type, sharding)) {
    return {.local = root, .sharding = sharding, .ranks = ranks};
  }
  // An all_reduce gives all ranks the same bits; other replicas may differ from
  // device to device.
  if (ranks > 1 && sharding.kind == Sharding::Kind::kReplicated &&
      !CollectiveOf(node).has_value()) {
    roots_[root].devices = DeviceIndices(node.node().placement);
  }
  return {.whole = {{0, type.num_bytes(), root, {}, false}}};
}

bool Names::NameMoved(const OpView& node) {
  if (node.op().moves == nullptr) return false;
  if (IsIdentity(node) && MoveLocal(node)) return true;
  const std::optional<CollectiveKind> collective = CollectiveOf(node);
  // A reduction computes new bytes, although it has the moves of a collective.
  if (collective.has_value() && RuleOf(*collective).computes) return false;
  return MoveSegments(node);
}

// Passes on names by rank, if operand and result have the same sharding and
// number of ranks.
bool Names::MoveLocal(const OpView& node) {
  const Named& from = values_[node.operand(0).id().index];
  if (from.local < 0) return false;
  if (ResultSharding(node.node(), 0) != from.sharding ||
      NumRanks(node.node().placement) != from.ranks) {
    return false;
  }
  values_[node.result(0).id().index] = from;
  return true;
}

bool Names::MoveSegments(const OpView& node) {
  const bool copy = IsCopy(node) || CollectiveOf(node).has_value();
  if (!IsIdentity(node) && !AllRowMajor(node)) return false;
  for (int r = 0; r < node.num_results(); ++r) {
    if (NamedLocally(node.result_type(r), ResultSharding(node.node(), r))) {
      return false;
    }
  }
  const std::optional<std::vector<ByteMove>> moves = MovesOf(node);
  if (!moves.has_value()) return false;
  std::vector<std::vector<Segment>> segments(node.num_results());
  for (const ByteMove& move : *moves) {
    if (move.operand < 0 || move.operand >= node.num_operands() ||
        move.result < 0 || move.result >= node.num_results() ||
        move.count > kMaxSegmentsOfValue) {
      return false;
    }
    const Named& from = values_[node.operand(move.operand).id().index];
    if (from.local >= 0) return false;
    std::vector<Segment>& to = segments[move.result];
    for (int64_t i = 0; i < move.count; ++i) {
      AppendSlice(from.whole, move.operand_offset + i * move.operand_stride,
                  move.block, move.result_offset + i * move.result_stride, to);
      if (static_cast<int64_t>(to.size()) > kMaxSegmentsOfValue) return false;
    }
  }
  for (int r = 0; r < node.num_results(); ++r) {
    // A copy may read any replica of a replicated value, which the certificate
    // states as an assumption. Ops that are no copies read the bytes of their
    // own device.
    for (Segment& segment : segments[r]) segment.any_replica |= copy;
    if (!Keep(node.result(r).id(), std::move(segments[r]))) return false;
  }
  return true;
}

// Appends a segment, merged with the last one if it continues it.
void Names::Append(const Segment& segment, std::vector<Segment>& out) {
  if (!out.empty()) {
    Segment& last = out.back();
    if (last.root == segment.root && last.any_replica == segment.any_replica &&
        last.begin + last.size == segment.begin &&
        Extend(last.bytes, last.size, segment.bytes, segment.size)) {
      last.size += segment.size;
      return;
    }
  }
  out.push_back(segment);
}

// Appends the segments of [begin, begin + size) of a value, moved to `to`.
void Names::AppendSlice(const std::vector<Segment>& from, int64_t begin,
                        int64_t size, int64_t to, std::vector<Segment>& out) {
  auto it = std::upper_bound(
      from.begin(), from.end(), begin,
      [](int64_t at, const Segment& segment) { return at < segment.begin; });
  if (it != from.begin()) --it;
  for (; it != from.end() && it->begin < begin + size; ++it) {
    const int64_t first = std::max(begin, it->begin);
    const int64_t last = std::min(begin + size, it->begin + it->size);
    if (first >= last) continue;
    Segment segment = {to + first - begin, last - first, it->root, it->bytes,
                       it->any_replica};
    segment.bytes.Shift(first - it->begin);
    Append(segment, out);
  }
}

// Makes the segments the value's names if they cover all of it exactly once.
bool Names::Keep(ValueId value, std::vector<Segment> segments) {
  std::sort(
      segments.begin(), segments.end(),
      [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const Segment& segment : segments) {
    if (segment.begin != at) return false;
    at += segment.size;
  }
  const int64_t count = static_cast<int64_t>(segments.size());
  // With a gap, some bytes would have no name. The value then is its own root,
  // and a command must compute it.
  if (at != view_.graph().type(value).num_bytes() ||
      (count > 1 && count > segments_left_)) {
    return false;
  }
  segments_left_ -= count;
  values_[value.index].whole = std::move(segments);
  return true;
}

bool Names::SegmentsVary(const Named& named) const {
  if (named.local >= 0) return roots_[named.local].varies;
  return std::any_of(
      named.whole.begin(), named.whole.end(),
      [&](const Segment& segment) { return roots_[segment.root].varies; });
}

DeviceId Names::DeviceNamed(const std::string& name) const {
  auto it = device_index_.find(name);
  return it == device_index_.end() ? DeviceId() : DeviceId(it->second);
}

bool Names::Varies(ValueId value) const {
  return SegmentsVary(values_[value.index]);
}

}  // namespace partita
