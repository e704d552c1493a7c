// A window that slides over the spatial dimensions of a tensor: what
// convolutions and pools share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_WINDOW_H_
#define PARTITA_GRAPH_OPS_WINDOW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/strided.h"

namespace partita {

// Position `o` and tap `k` meet the element o * stride - before + k * dilation
// of the large side, if there is one. The large side is the operand of a
// convolution or pool, and the result of a transposed convolution.
struct Window {
  int rank() const { return static_cast<int>(kernel.size()); }
  // Elements from the first tap to the last, both counted.
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

// Reads and checks strides, dilations, pads_before and pads_after; `small` is
// left empty.
absl::StatusOr<Window> ReadWindow(const OpView& op,
                                  absl::Span<const int64_t> kernel);
// Sets `large` and the number of positions that fit; `extra` (empty, or one a
// dimension) lengthens the end.
absl::Status SlideOver(const OpView& op, absl::Span<const int64_t> large,
                       absl::Span<const int64_t> extra, Window& window);

// The window of a node that has passed inference: `large` and `small` are the
// spatial extents of its operand and result.
Window WindowOf(const OpView& op, absl::Span<const int64_t> kernel,
                absl::Span<const int64_t> large,
                absl::Span<const int64_t> small);

// One tap and the positions at which it meets an element.
struct Tap {
  int64_t index = 0;  // row-major in the kernel
  Shape dims;         // box of positions
  int64_t large_offset = 0;
  int64_t small_offset = 0;
};
// Taps that meet nothing are left out.
std::vector<Tap> TapsOf(const Window& window);

// The loops over a tap's positions, innermost dimension apart.
struct TapLoops {
  explicit TapLoops(const Window& window);
  // line(large offset, small offset, count); elements of the large side are
  // `step` apart, those of the small side neighbours.
  template <typename Line>
  void ForEachLine(const Tap& tap, Line&& line) const {
    const size_t last = tap.dims.size() - 1;
    Shape outer = tap.dims;
    outer[last] = 1;
    ForEachOffset<2>(outer, {large_strides, small_strides},
                     [&](const std::array<int64_t, 2>& at) {
                       line(tap.large_offset + at[0], tap.small_offset + at[1],
                            tap.dims[last]);
                     });
  }
  Shape large_strides;  // from position to position
  Shape small_strides;
  int64_t step;
};

// How a position's rows enter a dimension rule (a halo), for spatial dimension
// `dim` of operand 0 and result 0; `first` is the tensors' first spatial
// dimension.
void AddHalo(const Window& window, int first, int dim, RuleBuilder& rule);

// Sets the pads of the piece that computes positions [begin, end) of spatial
// dimension `dim`.
void SetPiecePads(const OpView& op, const Window& window, int dim,
                  int64_t begin, int64_t end, Attributes& attributes);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_WINDOW_H_
