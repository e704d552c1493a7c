// Windows: their attributes, taps and shards.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

// Keeps every product and sum below far from overflow.
constexpr int64_t kMaxEntry = int64_t{1} << 30;

// The list, or `value` for each dimension if it is empty.
Shape ListOr(const OpView& op, absl::string_view name, int rank,
             int64_t value) {
  const std::vector<int64_t>& list = op.attr_ints(name);
  return list.empty() ? Shape(rank, value) : ToShape(list);
}

absl::Status CheckList(const OpView& op, absl::string_view name,
                       absl::Span<const int64_t> list, int rank, int64_t min) {
  const bool counts = list.size() == static_cast<size_t>(rank);
  const bool in_range = std::all_of(
      list.begin(), list.end(),
      [&](int64_t entry) { return entry >= min && entry <= kMaxEntry; });
  if (counts && in_range) return absl::OkStatus();
  return BadOp(op, absl::StrCat(name, " = [", absl::StrJoin(list, ", "), "]"),
               absl::StrCat(rank, " entries of ", min, "..", kMaxEntry),
               "give one entry per spatial dimension, or none");
}

int64_t CeilDiv(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

// Positions [begin, end) at which tap `k` of dimension `dim` is on an element.
struct PositionRange {
  int64_t begin;
  int64_t end;
};
PositionRange PositionsOf(const Window& w, int dim, int64_t k) {
  const int64_t shift = w.before[dim] - k * w.dilations[dim];
  const int64_t begin = std::max<int64_t>(0, CeilDiv(shift, w.strides[dim]));
  const int64_t end =
      std::min(w.small[dim], CeilDiv(w.large[dim] + shift, w.strides[dim]));
  return {begin, end};
}

// The positions of one tap, while dimensions are added to them.
struct TapBox {
  int64_t index = 0;
  Shape dims;
  int64_t large = 0;
  int64_t small = 0;
};

// The innermost dimension is a line. Lines that are contiguous on both sides
// are merged.
Tap LinesOf(const Window& w, const TapBox& box) {
  Shape large_strides = RowMajorStrides(w.large);
  const Shape small_strides = RowMajorStrides(w.small);
  for (int d = 0; d < w.rank(); ++d) large_strides[d] *= w.strides[d];
  Shape outer = box.dims;
  const int64_t count = outer.back();
  outer.back() = 1;
  const int64_t step = w.strides.back();
  Tap tap{box.index, {}};
  ForEachOffset<2>(
      outer, {large_strides, small_strides},
      [&](const std::array<int64_t, 2>& at) {
        const TapLine line = {box.large + at[0], box.small + at[1], count};
        TapLine* last = tap.lines.empty() ? nullptr : &tap.lines.back();
        if (last != nullptr && line.small == last->small + last->count &&
            line.large == last->large + last->count * step) {
          last->count += count;
        } else {
          tap.lines.push_back(line);
        }
      });
  return tap;
}

void AddTaps(const Window& w, int dim, const TapBox& so_far,
             std::vector<Tap>& taps) {
  if (dim == w.rank()) {
    taps.push_back(LinesOf(w, so_far));
    return;
  }
  const int64_t large_stride = RowMajorStrides(w.large)[dim];
  const int64_t small_stride = RowMajorStrides(w.small)[dim];
  for (int64_t k = 0; k < w.kernel[dim]; ++k) {
    const PositionRange range = PositionsOf(w, dim, k);
    if (range.begin >= range.end) continue;
    TapBox box = so_far;
    box.index = so_far.index * w.kernel[dim] + k;
    box.dims.push_back(range.end - range.begin);
    box.large += large_stride * (range.begin * w.strides[dim] - w.before[dim] +
                                 k * w.dilations[dim]);
    box.small += small_stride * range.begin;
    AddTaps(w, dim + 1, box, taps);
  }
}

void SetEntry(const OpView& op, absl::string_view name, int rank, int dim,
              int64_t value, Attributes& attributes) {
  const Shape list = ListOr(op, name, rank, 0);
  std::vector<int64_t> entries(list.begin(), list.end());
  entries[dim] = value;
  attributes.Set(name, entries);
}

// For one dimension and each position: the number of taps inside [-before,
// extent + after), where before and after are the counted pads.
std::vector<double> CountTaps(const Window& w, int dim, bool with_pads) {
  const int64_t low = with_pads ? -w.before[dim] : 0;
  const int64_t high = w.large[dim] + (with_pads ? w.after[dim] : 0);
  std::vector<double> counts(w.small[dim]);
  for (int64_t o = 0; o < w.small[dim]; ++o) {
    const int64_t start = o * w.strides[dim] - w.before[dim];
    for (int64_t k = 0; k < w.kernel[dim]; ++k) {
      const int64_t at = start + k * w.dilations[dim];
      counts[o] += at >= low && at < high;
    }
  }
  return counts;
}

}  // namespace

absl::StatusOr<Window> ReadWindow(const OpView& op,
                                  absl::Span<const int64_t> kernel) {
  Window w;
  const int rank = static_cast<int>(kernel.size());
  w.kernel = ToShape(kernel);
  w.strides = ListOr(op, "strides", rank, 1);
  w.dilations = ListOr(op, "dilations", rank, 1);
  w.before = ListOr(op, "pads_before", rank, 0);
  w.after = ListOr(op, "pads_after", rank, 0);
  PARTITA_RETURN_IF_ERROR(CheckList(op, "kernel", w.kernel, rank, 1));
  PARTITA_RETURN_IF_ERROR(CheckList(op, "strides", w.strides, rank, 1));
  PARTITA_RETURN_IF_ERROR(CheckList(op, "dilations", w.dilations, rank, 1));
  PARTITA_RETURN_IF_ERROR(CheckList(op, "pads_before", w.before, rank, 0));
  PARTITA_RETURN_IF_ERROR(CheckList(op, "pads_after", w.after, rank, 0));
  return w;
}

absl::Status SlideOver(const OpView& op, absl::Span<const int64_t> large,
                       absl::Span<const int64_t> extra, Window& w) {
  w.large = ToShape(large);
  w.small.clear();
  if (!extra.empty()) {
    PARTITA_RETURN_IF_ERROR(CheckList(op, "ceil_extra", extra, w.rank(), 0));
  }
  for (int d = 0; d < w.rank(); ++d) {
    const int64_t padded =
        large[d] + w.before[d] + w.after[d] + (extra.empty() ? 0 : extra[d]);
    if (w.Extent(d) > padded) {
      return BadExtents(
          op,
          absl::StrCat("a window of ", w.Extent(d), " over ", padded,
                       " padded elements in spatial dimension ", d),
          "a window that fits", "lower the kernel or add pads");
    }
    w.small.push_back((padded - w.Extent(d)) / w.strides[d] + 1);
  }
  return absl::OkStatus();
}

Window WindowOf(const OpView& op, absl::Span<const int64_t> kernel,
                absl::Span<const int64_t> large,
                absl::Span<const int64_t> small) {
  Window w = *ReadWindow(op, kernel);
  w.large = ToShape(large);
  w.small = ToShape(small);
  return w;
}

std::vector<Tap> TapsOf(const Window& window) {
  std::vector<Tap> taps;
  AddTaps(window, 0, TapBox(), taps);
  return taps;
}

std::vector<double> TapCounts(const Window& w, bool with_pads) {
  std::vector<double> products = {1};
  for (int d = 0; d < w.rank(); ++d) {
    const std::vector<double> counts = CountTaps(w, d, with_pads);
    std::vector<double> next;
    for (double outer : products) {
      for (double count : counts) next.push_back(outer * count);
    }
    products = std::move(next);
  }
  return products;
}

std::vector<int64_t> UnreadRows(const Window& w) {
  std::vector<int64_t> unread;
  for (int d = 0; d < w.rank(); ++d) {
    unread.push_back(w.large[d] + w.before[d] + w.after[d] - w.Extent(d) -
                     (w.small[d] - 1) * w.strides[d]);
  }
  return unread;
}

Attributes ConvWindow(const OpView& op) {
  return {{"strides", op.attr_ints("strides")},
          {"dilations", op.attr_ints("dilations")},
          {"pads_before", op.attr_ints("pads_before")},
          {"pads_after", op.attr_ints("pads_after")},
          {"groups", op.attr_int("groups")}};
}

void AddHalo(const Window& w, int first, int dim, RuleBuilder& rule) {
  const int factor =
      rule.Halo(absl::StrCat("s", dim), w.small[dim], w.strides[dim],
                w.before[dim], w.Extent(dim) - 1 - w.before[dim]);
  rule.Operand(0, first + dim, factor).Result(0, first + dim, factor);
}

void SetShardPads(const OpView& op, const Window& w, int dim, int64_t begin,
                  int64_t end, Attributes& attributes) {
  const int64_t extent = w.large[dim];
  const int64_t from = begin * w.strides[dim] - w.before[dim];
  const int64_t to = (end - 1) * w.strides[dim] - w.before[dim] + w.Extent(dim);
  const int64_t first = std::clamp<int64_t>(from, 0, extent);
  const int64_t last = std::clamp<int64_t>(to, first, extent);
  // A window outside the operand covers only pads.
  const int64_t before = first == last ? to - from : first - from;
  const int64_t after = first == last ? 0 : to - last;
  SetEntry(op, "pads_before", w.rank(), dim, before, attributes);
  SetEntry(op, "pads_after", w.rank(), dim, after, attributes);
}

}  // namespace partita
