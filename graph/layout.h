// The order of a tensor's elements in memory: row-major, or an order of
// dimensions with inner blocks.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_LAYOUT_H_
#define PARTITA_GRAPH_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace partita {

using Shape = absl::InlinedVector<int64_t, 6>;

// Written as letters for the dimensions, outermost first, then inner blocks,
// each a size and the letter of its dimension: `acdb` is a rank-4 tensor with
// dimension 1 innermost (NHWC), `abcd16b` keeps 16 neighbours of dimension 1
// together (nChw16c), `abcd16b16a` blocks two dimensions (OIhw16i16o). A
// dimension that its block does not divide is padded with zeros.
//
// Invariants: `order` is empty (row-major, no blocks) or a permutation of the
// dimensions; it is never the identity without blocks, so equal layouts compare
// equal.
struct Layout {
  struct Block {
    uint8_t dim;
    int32_t size;
    friend bool operator==(const Block&, const Block&) = default;
  };

  bool is_row_major() const { return order.empty(); }
  std::string ToString() const;  // "" when row-major

  friend bool operator==(const Layout&, const Layout&) = default;

  absl::InlinedVector<uint8_t, 6> order;
  absl::InlinedVector<Block, 2> blocks;
};

// Reads the letters for a tensor of `rank` dimensions.
absl::StatusOr<Layout> ParseLayout(absl::string_view text, int rank);

// Puts a layout into the canonical form that the invariants ask for.
Layout Canonical(Layout layout);

// The extents in memory order: outer dimensions (each divided by its blocks,
// rounded up), then one per block.
Shape PhysicalDims(const Layout& layout, absl::Span<const int64_t> dims);

// Position, in elements, of the element at `index` (one entry per dimension).
int64_t PhysicalOffset(const Layout& layout, absl::Span<const int64_t> dims,
                       absl::Span<const int64_t> index);

}  // namespace partita

#endif  // PARTITA_GRAPH_LAYOUT_H_
