// A window that slides over the spatial dimensions of a tensor, for
// convolutions and pools.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_WINDOW_H_
#define PARTITA_GRAPH_OPS_WINDOW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/ops/rule_builder.h"

namespace partita {

// The extents of a tensor [n, channels, spatial...].
inline absl::Span<const int64_t> Spatial(const TensorType& type) {
  return absl::MakeConstSpan(type.dims).subspan(2);
}

// Tap `k` at position `o` is on element o * stride - before + k * dilation of
// the large side, if it exists. The large side is the operand of a convolution
// or pool, and the result of a transposed convolution.
struct Window {
  int rank() const { return static_cast<int>(kernel.size()); }
  // The number of elements from the first tap to the last, inclusive.
  int64_t Extent(int dim) const {
    return (kernel[dim] - 1) * dilations[dim] + 1;
  }
  Shape large;
  Shape small;  // positions
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape before;
  Shape after;
};

// Reads and checks strides, dilations, pads_before and pads_after. `small`
// stays empty.
absl::StatusOr<Window> ReadWindow(const OpView& op,
                                  absl::Span<const int64_t> kernel);
// Sets `large` and the number of positions that fit. `extra` (empty, or one for
// each dimension) extends the end.
absl::Status SlideOver(const OpView& op, absl::Span<const int64_t> large,
                       absl::Span<const int64_t> extra, Window& window);

// The window of a node that has passed inference: `large` and `small` are the
// spatial extents of its operand and result.
Window WindowOf(const OpView& op, absl::Span<const int64_t> kernel,
                absl::Span<const int64_t> large,
                absl::Span<const int64_t> small);

// A run of positions at which one tap is on elements: contiguous on the small
// side, `TapStep` elements apart on the large side.
struct TapLine {
  int64_t large;  // offsets of the first, in elements
  int64_t small;
  int64_t count;
};
// One tap of the kernel.
struct Tap {
  int64_t index = 0;  // row-major in the kernel
  std::vector<TapLine> lines;
};
// Taps without an element are omitted.
std::vector<Tap> TapsOf(const Window& window);
inline int64_t TapStep(const Window& window) { return window.strides.back(); }
// Calls visit(large, small) with the offsets of every element of every tap and
// of the position that it belongs to; tap after tap.
template <typename Visit>
void ForEachElement(absl::Span<const Tap> taps, int64_t step, Visit&& visit) {
  for (const Tap& tap : taps) {
    for (const TapLine& line : tap.lines) {
      for (int64_t i = 0; i < line.count; ++i) {
        visit(line.large + i * step, line.small + i);
      }
    }
  }
}

// By position: how many taps are on elements, or also on pads.
std::vector<double> TapCounts(const Window& window, bool with_pads);

// By dimension: elements at the end that no position reaches. This is the
// output padding of the transposed convolution in the gradient.
std::vector<int64_t> UnreadRows(const Window& window);

// The attributes shared by convolutions with one window, including groups.
Attributes ConvWindow(const OpView& op);

// Adds a halo for spatial dimension `dim` of operand 0 and result 0 to a
// dimension rule. `first` is the tensors' first spatial dimension.
void AddHalo(const Window& window, int first, int dim, RuleBuilder& rule);

// Sets the pads of the shard that computes positions [begin, end) of spatial
// dimension `dim`.
void SetShardPads(const OpView& op, const Window& window, int dim,
                  int64_t begin, int64_t end, Attributes& attributes);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_WINDOW_H_
