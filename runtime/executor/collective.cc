// Computes intervals to reduce and blocks to copy from shardings.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/collective.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

int64_t Product(const Shape& dims, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= dims[i];
  return product;
}

class Binder {
 public:
  Binder(const OpView& node, int value, int rank,
         const std::vector<std::byte*>& operands,
         const std::vector<std::byte*>& results)
      : node_(node),
        type_(node.operand_type(value)),
        result_type_(node.result_type(value)),
        size_(BitsOf(type_.dtype) / 8),
        from_(ShardingOf(node.node().placement.operands, value)),
        to_(ShardingOf(node.node().placement.results, value)),
        rank_(rank),
        ranks_(static_cast<int>(operands.size())),
        operands_(operands),
        results_(results) {}

  absl::StatusOr<RankWork> Bind() {
    const bool reshards =
        from_ != to_ && (from_.kind == Sharding::Kind::kSplit ||
                         to_.kind == Sharding::Kind::kSplit);
    if (result_type_.layout != type_.layout ||
        (reshards && !type_.layout.is_row_major())) {
      return absl::UnimplementedError(
          absl::StrCat("found a collective of ", type_.ToString(), " to ",
                       result_type_.ToString(),
                       "; expected row-major values; put a reorder before it"));
    }
    if (from_.kind != Sharding::Kind::kPartial) {
      if (results_[rank_] != nullptr) FetchShards();
      return std::move(work_);
    }
    PARTITA_ASSIGN_OR_RETURN(work_.combine,
                             FindCombine(type_.dtype, from_.reduction));
    work_.operands.assign(operands_.begin(), operands_.end());
    if (to_.kind == Sharding::Kind::kSplit) {
      ReduceShard();
    } else {
      ReduceInterval();
    }
    return std::move(work_);
  }

 private:
  Interval IntervalOf(const Sharding& split, int rank) const {
    return RankInterval(type_.dims[split.dim], split.unit, rank, ranks_);
  }

  // reduce_scatter: reduces the shard that this rank keeps.
  void ReduceShard() {
    const int64_t inner = Product(type_.dims, to_.dim + 1, type_.rank());
    const int64_t extent = type_.dims[to_.dim];
    const Interval own = IntervalOf(to_, rank_);
    work_.reduce_into = {results_[rank_]};
    work_.interval_offset = own.begin * inner * size_;
    work_.elements = own.size() * inner;
    work_.interval = {.block = work_.elements * size_,
                      .count = Product(type_.dims, 0, to_.dim),
                      .stride = extent * inner * size_};
  }

  // all_reduce: every rank reduces an equal interval of the elements.
  void ReduceInterval() {
    const Interval own =
        RankInterval(type_.num_stored_elements(), 1, rank_, ranks_);
    work_.interval_offset = own.begin * size_;
    work_.elements = own.size();
    work_.interval = {.block = work_.elements * size_};
    for (std::byte* result : results_) {
      work_.reduce_into.push_back(result + work_.interval_offset);
    }
  }

  // Copies into this rank's result: blocks of every operand for all_gather and
  // all_to_all, one whole operand for broadcast and permute.
  void FetchShards() {
    if (from_ == to_) return FetchMoved();
    for (int other = 0; other < ranks_; ++other) {
      if (to_.kind == Sharding::Kind::kSplit) {
        to_.dim == from_.dim ? FetchOverlap(other) : FetchCrossing(other);
      } else {
        FetchWhole(other);
      }
    }
  }

  void FetchMoved() {
    const std::vector<Participant> ranks = ParticipantsOf(node_);
    const std::optional<CollectiveKind> kind = CollectiveOf(node_);
    const bool from_root =
        kind.has_value() && DefOf(*kind).routes == CollectiveRoutes::kFromRoot;
    const int shard = ranks[rank_].takes;
    const int64_t bytes =
        ShardType(type_, to_, shard,
                  static_cast<int>(node_.node().placement.devices.size()))
            .num_bytes();
    for (int other = 0; other < ranks_; ++other) {
      const int given = ranks[other].gives;
      if (given < 0 || (!from_root && given != shard)) continue;
      AddFetch({{results_[rank_], bytes}, {operands_[other], bytes}});
    }
  }

  void FetchWhole(int other) {
    const int64_t inner =
        size_ * Product(type_.dims, from_.dim + 1, type_.rank());
    const int64_t extent = type_.dims[from_.dim];
    const Interval rows = IntervalOf(from_, other);
    const int64_t outer = Product(type_.dims, 0, from_.dim);
    const int64_t block = rows.size() * inner;
    AddFetch(
        {{results_[rank_] + rows.begin * inner, block, outer, extent * inner},
         {operands_[other], block, outer, block}});
  }

  // The overlap of both ranks' intervals, where both shardings split the same
  // dimension in different units.
  void FetchOverlap(int other) {
    const Interval there = IntervalOf(from_, other);
    const Interval here = IntervalOf(to_, rank_);
    const Interval both{std::max(there.begin, here.begin),
                        std::min(there.end, here.end)};
    if (both.size() <= 0) return;
    const int64_t inner =
        size_ * Product(type_.dims, from_.dim + 1, type_.rank());
    const int64_t outer = Product(type_.dims, 0, from_.dim);
    const int64_t block = both.size() * inner;
    AddFetch({{results_[rank_] + (both.begin - here.begin) * inner, block,
               outer, here.size() * inner},
              {operands_[other] + (both.begin - there.begin) * inner, block,
               outer, there.size() * inner}});
  }

  // The other rank's shard splits one dimension and this rank's shard another.
  // Copies their intersection: runs along the later dimension, for every index
  // of the dimensions before and between the two.
  void FetchCrossing(int other) {
    const int first = std::min(from_.dim, to_.dim);
    const int last = std::max(from_.dim, to_.dim);
    const Interval there = IntervalOf(from_, other);
    const Interval here = IntervalOf(to_, rank_);
    const bool from_first = from_.dim == first;
    const Interval rows = from_first ? there : here;
    const Interval columns = from_first ? here : there;
    const int64_t inner = size_ * Product(type_.dims, last + 1, type_.rank());
    const int64_t middle = Product(type_.dims, first + 1, last);
    // `narrow` is a run in the shard that splits `last`, `wide` in the other
    // one.
    const int64_t narrow = columns.size() * inner;
    const int64_t wide = type_.dims[last] * inner;
    const int64_t runs = rows.size() * middle;
    const int64_t of_narrow = type_.dims[first] * middle * narrow;
    const int64_t of_wide = rows.size() * middle * wide;
    for (int64_t i = 0; i < Product(type_.dims, 0, first); ++i) {
      const int64_t in_narrow = i * of_narrow + rows.begin * middle * narrow;
      const int64_t in_wide = i * of_wide + columns.begin * inner;
      const int64_t to = from_first ? in_narrow : in_wide;
      const int64_t from = from_first ? in_wide : in_narrow;
      AddFetch(
          {{results_[rank_] + to, narrow, runs, from_first ? narrow : wide},
           {operands_[other] + from, narrow, runs,
            from_first ? wide : narrow}});
    }
  }

  // Bytes that are already in place do not change: other ranks read them.
  void AddFetch(const Transfer& transfer) {
    if (transfer.to.size() == 0) return;
    if (transfer.to.base == transfer.from.base && transfer.to.contiguous()) {
      return;
    }
    work_.fetches.push_back(transfer);
  }

  const OpView node_;
  const TensorType& type_;
  const TensorType& result_type_;
  const int64_t size_;
  const Sharding from_;
  const Sharding to_;
  const int rank_;
  const int ranks_;
  const std::vector<std::byte*>& operands_;
  const std::vector<std::byte*>& results_;
  RankWork work_;
};

void Reduce(const RankWork& work) {
  if (work.combine == nullptr) return;
  for (int64_t i = 0; i < work.interval.count; ++i) {
    work.combine(work.operands, work.interval_offset + i * work.interval.stride,
                 work.reduce_into, i * work.interval.block, work.elements);
  }
}

}  // namespace

absl::StatusOr<RankWork> BindCollective(
    const OpView& node, int value, int rank,
    const std::vector<std::byte*>& operands,
    const std::vector<std::byte*>& results) {
  return Binder(node, value, rank, operands, results).Bind();
}

absl::Status RunRankWork(const RankWork& work, DeviceStream& stream) {
  Reduce(work);
  for (const Transfer& transfer : work.fetches) {
    PARTITA_RETURN_IF_ERROR(stream.Copy(transfer.to, transfer.from));
  }
  return absl::OkStatus();
}

}  // namespace partita
