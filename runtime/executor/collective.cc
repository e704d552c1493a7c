// Shares and transfers from shardings.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/collective.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/instance.h"
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
  Binder(const OpView& node, int value, int member,
         const std::vector<std::byte*>& operands,
         const std::vector<std::byte*>& results)
      : node_(node),
        type_(node.operand_type(value)),
        result_type_(node.result_type(value)),
        size_(BitsOf(type_.dtype) / 8),
        from_(ShardingOf(node.node().placement.operands, value)),
        to_(ShardingOf(node.node().placement.results, value)),
        member_(member),
        members_(static_cast<int>(operands.size())),
        operands_(operands),
        results_(results) {}

  absl::StatusOr<CollectivePart> Bind() {
    const bool cuts = from_ != to_ && (from_.kind == Sharding::Kind::kSplit ||
                                       to_.kind == Sharding::Kind::kSplit);
    if (result_type_.layout != type_.layout ||
        (cuts && !type_.layout.is_row_major())) {
      return absl::UnimplementedError(
          absl::StrCat("found a collective of ", type_.ToString(), " to ",
                       result_type_.ToString(),
                       "; expected row-major values; put a reorder before it"));
    }
    if (from_.kind != Sharding::Kind::kPartial) {
      if (results_[member_] != nullptr) FetchPieces();
      return std::move(part_);
    }
    PARTITA_ASSIGN_OR_RETURN(part_.combine,
                             FindCombine(type_.dtype, from_.reduction));
    part_.parts.assign(operands_.begin(), operands_.end());
    if (to_.kind == Sharding::Kind::kSplit) {
      JoinPiece();
    } else {
      JoinShare();
    }
    return std::move(part_);
  }

 private:
  Interval Share(const Sharding& split, int member) const {
    return MemberShare(type_.dims[split.dim], split.unit, member, members_);
  }

  // reduce_scatter: the piece that the member keeps.
  void JoinPiece() {
    const int64_t inner = Product(type_.dims, to_.dim + 1, type_.rank());
    const int64_t extent = type_.dims[to_.dim];
    const Interval own = Share(to_, member_);
    part_.joined = {results_[member_]};
    part_.share_offset = own.begin * inner * size_;
    part_.elements = own.size() * inner;
    part_.share = {.block = part_.elements * size_,
                   .count = Product(type_.dims, 0, to_.dim),
                   .stride = extent * inner * size_};
  }

  // all_reduce: an equal share of the bytes, for every member.
  void JoinShare() {
    const Interval own =
        MemberShare(type_.num_stored_elements(), 1, member_, members_);
    part_.share_offset = own.begin * size_;
    part_.elements = own.size();
    part_.share = {.block = part_.elements * size_};
    for (std::byte* result : results_) {
      part_.joined.push_back(result + part_.share_offset);
    }
  }

  // What of each operand lies in the own result: of all_gather and all_to_all
  // some of every one, else one that is moved as it is.
  void FetchPieces() {
    if (from_ == to_) return FetchMoved();
    for (int other = 0; other < members_; ++other) {
      if (to_.kind == Sharding::Kind::kSplit) {
        to_.dim == from_.dim ? FetchOverlap(other) : FetchCrossing(other);
      } else {
        FetchWhole(other);
      }
    }
  }

  void FetchMoved() {
    const std::vector<CollectiveMember> members = MembersOf(node_);
    const bool whole = to_.kind == Sharding::Kind::kReplicated;
    const int piece = members[member_].takes;
    const int64_t bytes =
        InstanceType(type_, to_, piece,
                     static_cast<int>(node_.node().placement.devices.size()))
            .num_bytes();
    for (int other = 0; other < members_; ++other) {
      const int given = members[other].gives;
      if (given < 0 || (!whole && given != piece)) continue;
      AddFetch({{results_[member_], bytes}, {operands_[other], bytes}});
    }
  }

  void FetchWhole(int other) {
    const int64_t inner =
        size_ * Product(type_.dims, from_.dim + 1, type_.rank());
    const int64_t extent = type_.dims[from_.dim];
    const Interval rows = Share(from_, other);
    const int64_t outer = Product(type_.dims, 0, from_.dim);
    const int64_t block = rows.size() * inner;
    AddFetch(
        {{results_[member_] + rows.begin * inner, block, outer, extent * inner},
         {operands_[other], block, outer, block}});
  }

  // What both hold of a dimension that is divided in other units.
  void FetchOverlap(int other) {
    const Interval there = Share(from_, other);
    const Interval here = Share(to_, member_);
    const Interval both{std::max(there.begin, here.begin),
                        std::min(there.end, here.end)};
    if (both.size() <= 0) return;
    const int64_t inner =
        size_ * Product(type_.dims, from_.dim + 1, type_.rank());
    const int64_t outer = Product(type_.dims, 0, from_.dim);
    const int64_t block = both.size() * inner;
    AddFetch({{results_[member_] + (both.begin - here.begin) * inner, block,
               outer, here.size() * inner},
              {operands_[other] + (both.begin - there.begin) * inner, block,
               outer, there.size() * inner}});
  }

  // Where the other's rows cross the own columns: runs along the later of the
  // two dimensions, for every index between them and before them.
  void FetchCrossing(int other) {
    const int first = std::min(from_.dim, to_.dim);
    const int last = std::max(from_.dim, to_.dim);
    const Interval there = Share(from_, other);
    const Interval here = Share(to_, member_);
    const bool from_first = from_.dim == first;
    const Interval rows = from_first ? there : here;
    const Interval columns = from_first ? here : there;
    const int64_t inner = size_ * Product(type_.dims, last + 1, type_.rank());
    const int64_t middle = Product(type_.dims, first + 1, last);
    // In the piece that is cut along `last`, and in the other one.
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
          {{results_[member_] + to, narrow, runs, from_first ? narrow : wide},
           {operands_[other] + from, narrow, runs,
            from_first ? wide : narrow}});
    }
  }

  // What already lies in place is left alone: others read it meanwhile.
  void AddFetch(const Transfer& transfer) {
    if (transfer.to.size() == 0) return;
    if (transfer.to.base == transfer.from.base && transfer.to.contiguous()) {
      return;
    }
    part_.fetches.push_back(transfer);
  }

  const OpView node_;
  const TensorType& type_;
  const TensorType& result_type_;
  const int64_t size_;
  const Sharding from_;
  const Sharding to_;
  const int member_;
  const int members_;
  const std::vector<std::byte*>& operands_;
  const std::vector<std::byte*>& results_;
  CollectivePart part_;
};

void Join(const CollectivePart& part) {
  if (part.combine == nullptr) return;
  for (int64_t i = 0; i < part.share.count; ++i) {
    part.combine(part.parts, part.share_offset + i * part.share.stride,
                 part.joined, i * part.share.block, part.elements);
  }
}

}  // namespace

absl::StatusOr<CollectivePart> BindCollective(
    const OpView& node, int value, int member,
    const std::vector<std::byte*>& operands,
    const std::vector<std::byte*>& results) {
  return Binder(node, value, member, operands, results).Bind();
}

absl::Status RunCollective(absl::Span<const CollectivePart> parts,
                           DeviceStream& stream,
                           absl::FunctionRef<bool(int)> meet) {
  if (!meet(0)) return absl::OkStatus();
  for (const CollectivePart& part : parts) {
    Join(part);
    for (const Transfer& transfer : part.fetches) {
      absl::Status status = stream.Copy(transfer.to, transfer.from);
      if (!status.ok()) return status;
    }
  }
  meet(1);
  return absl::OkStatus();
}

}  // namespace partita
