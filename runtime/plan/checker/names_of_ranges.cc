// Answers what the bytes of a value's shard, or of a persistent range, are.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/names.h"

namespace partita {
namespace {

// Blocks of a value that already has several segments.
constexpr int64_t kMaxBlocksOfSegments = int64_t{1} << 16;

}  // namespace

// The segments of a value that a range selects. Contiguous bytes give one
// segment, however many blocks the range has.
std::vector<Names::Segment> Names::Slices(const std::vector<Segment>& whole,
                                          const Range& range) {
  std::vector<Segment> segments;
  if (range.empty()) return segments;
  // Shards along an inner dimension have as many blocks as the outer dimensions
  // have elements. Their names must not take as much memory.
  if (whole.size() == 1 && whole[0].bytes.block == 0 &&
      range.end() <= whole[0].size) {
    segments.push_back(
        {0, range.size(), whole[0].root,
         RootBytes::Blocks(whole[0].bytes.byte + range.offset, range.block,
                           range.count, range.stride),
         whole[0].any_replica});
    return segments;
  }
  gave_up_ |= range.count > kMaxBlocksOfSegments;
  if (gave_up_) return segments;
  int64_t at = 0;
  ForEachBlock(range, 0, [&](ByteSpan block) {
    const int64_t size = block.end - block.begin;
    AppendSlice(whole, block.begin, size, at, segments);
    at += size;
  });
  return segments;
}

Name Names::NameAt(const Segment& segment, DeviceId device,
                   MicroBatchId micro_batch) const {
  const Root& root = roots_[segment.root];
  Name name;
  name.root = segment.root;
  name.bytes = segment.bytes;
  name.micro_batch = root.varies ? micro_batch : kFirstMicroBatch;
  if (root.devices.empty()) return name;
  const bool here = std::find(root.devices.begin(), root.devices.end(),
                              device.index) != root.devices.end();
  if (root.devices.size() == 1) {
    name.replica = root.devices[0];
  } else {
    name.replica = here && !segment.any_replica ? device.index : kAnyReplica;
  }
  return name;
}

std::vector<NamedSegment> Names::Of(ValueId value, const Sharding& sharding,
                                    int rank, int ranks, DeviceId device,
                                    MicroBatchId micro_batch) {
  return OfNamed(values_[value.index], view_.graph().type(value), sharding,
                 rank, ranks, device, micro_batch);
}

std::vector<NamedSegment> Names::OfSumAfter(const OpView& accumulate, int rank,
                                            DeviceId device,
                                            MicroBatchId micro_batch) {
  const int ranks = NumRanks(accumulate.node().placement);
  if (micro_batch == kFirstMicroBatch) {
    return Of(accumulate.operand(0).id(), OperandSharding(accumulate.node(), 0),
              rank, ranks, device, kFirstMicroBatch);
  }
  const ValueId sum = accumulate.result(0).id();
  const bool whole =
      micro_batch.index + 1 == accumulate.attr_int("micro_batches");
  return OfNamed(whole ? values_[sum.index] : sums_so_far_.at(sum.index),
                 view_.graph().type(sum), ResultSharding(accumulate.node(), 0),
                 rank, ranks, device, micro_batch);
}

std::vector<NamedSegment> Names::OfNamed(const Named& named,
                                         const TensorType& type,
                                         const Sharding& sharding, int rank,
                                         int ranks, DeviceId device,
                                         MicroBatchId micro_batch) {
  std::vector<NamedSegment> out;
  if (named.local >= 0) {
    if (sharding != named.sharding || ranks != named.ranks) return out;
    const int64_t bytes = TypeOfShard(type, sharding, rank, ranks).num_bytes();
    Name name{named.local,
              rank,
              roots_[named.local].varies ? micro_batch : kFirstMicroBatch,
              {}};
    if (bytes > 0) out.push_back({0, bytes, name});
    return out;
  }
  if (NamedLocally(type, sharding)) return out;
  const std::vector<Segment> segments =
      Slices(named.whole, ShardOfWhole(type, sharding, rank, ranks));
  out.reserve(segments.size());
  for (const Segment& segment : segments) {
    out.push_back(
        {segment.begin, segment.size, NameAt(segment, device, micro_batch)});
  }
  return out;
}

std::vector<NamedSegment> Names::OfPersistent(const Entry& entry,
                                              const PersistentValue& value) {
  const OpView node = entry.graph->view(value.node);
  const TensorType& type = node.result_type(0);
  const Sharding sharding = ResultSharding(node.node(), 0);
  const int ranks = NumRanks(node.node().placement);
  const int32_t root = RootOfKey(
      SourceKey(node), {.text = absl::StrCat("a value of @", entry.name)});
  Name name{.root = root};
  if (NamedLocally(type, sharding)) {
    name.replica = value.rank;
    const int64_t bytes =
        TypeOfShard(type, sharding, value.rank, ranks).num_bytes();
    return {{0, bytes, name}};
  }
  if (node.is(kVariable) && sharding.kind == Sharding::Kind::kReplicated) {
    name.replica = entry.buffers[value.buffer.index].device.index;
  }
  const Range shard = ShardOfWhole(type, sharding, value.rank, ranks);
  if (shard.empty()) return {};
  name.bytes =
      RootBytes::Blocks(shard.offset, shard.block, shard.count, shard.stride);
  return {{0, shard.size(), name}};
}

std::string Names::Text(const Name& name, int64_t size) const {
  const Root& root = roots_[name.root];
  const RootBytes& bytes = name.bytes;
  const int64_t in_a_row = std::min(size, bytes.in_a_row());
  std::string text =
      absl::StrCat(root.is_partial ? "the partial sum " : "",
                   root.text.empty() ? view_.ValueText(root.value) : root.text,
                   " bytes ", bytes.first(), "..", bytes.first() + in_a_row);
  if (in_a_row < size) {
    absl::StrAppend(&text, " and on, ", bytes.block, " bytes every ",
                    bytes.stride);
  }
  if (root.varies) {
    absl::StrAppend(&text, " of micro-batch ", name.micro_batch.index);
  }
  if (root.devices.size() > 1 && name.replica >= 0) {
    absl::StrAppend(&text, " of ",
                    view_.plan->devices[name.replica].traits.name);
  }
  return text;
}

}  // namespace partita
