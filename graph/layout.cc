// Parsing, printing and index arithmetic of layouts.
// SPDX-License-Identifier: Apache-2.0

#include "graph/layout.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr int32_t kMaxBlock = 1024;
constexpr int kMaxBlocks = 6;

absl::Status BadLayout(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "layout {", text, "}: ", why,
      "; expected the letters of the dimensions in order, then blocks such as "
      "16b"));
}

int64_t BlockOf(const Layout& layout, int dim) {
  int64_t size = 1;
  for (const Layout::Block& block : layout.blocks) {
    if (block.dim == dim) size *= block.size;
  }
  return size;
}

}  // namespace

std::string Layout::ToString() const {
  std::string text;
  for (uint8_t dim : order) text.push_back(static_cast<char>('a' + dim));
  for (const Block& block : blocks) {
    absl::StrAppend(&text, block.size);
    text.push_back(static_cast<char>('a' + block.dim));
  }
  return text;
}

Layout Canonical(Layout layout) {
  if (!layout.blocks.empty()) return layout;
  for (size_t i = 0; i < layout.order.size(); ++i) {
    if (layout.order[i] != i) return layout;
  }
  layout.order.clear();
  return layout;
}

absl::StatusOr<Layout> ParseLayout(absl::string_view text, int rank) {
  Layout layout;
  uint64_t seen = 0;
  size_t at = 0;
  for (; at < text.size() && absl::ascii_islower(text[at]); ++at) {
    const int dim = text[at] - 'a';
    if (dim >= rank) return BadLayout(text, "a letter past the last dimension");
    if (seen >> dim & 1) return BadLayout(text, "a dimension named twice");
    seen |= uint64_t{1} << dim;
    layout.order.push_back(static_cast<uint8_t>(dim));
  }
  if (static_cast<int>(layout.order.size()) != rank) {
    return BadLayout(text, absl::StrCat("found ", layout.order.size(),
                                        " dimensions for rank ", rank));
  }
  while (at < text.size()) {
    int32_t size = 0;
    while (at < text.size() && absl::ascii_isdigit(text[at]) &&
           size <= kMaxBlock) {
      size = size * 10 + (text[at++] - '0');
    }
    if (size < 2 || size > kMaxBlock || at == text.size()) {
      return BadLayout(text, "a block of no useful size");
    }
    const int dim = text[at++] - 'a';
    if (dim < 0 || dim >= rank)
      return BadLayout(text, "a block of no dimension");
    layout.blocks.push_back({static_cast<uint8_t>(dim), size});
    if (layout.blocks.size() > kMaxBlocks) {
      return BadLayout(text, "more than six blocks");
    }
  }
  return Canonical(std::move(layout));
}

Shape PhysicalDims(const Layout& layout, absl::Span<const int64_t> dims) {
  if (layout.is_row_major()) return Shape(dims.begin(), dims.end());
  Shape physical;
  for (uint8_t dim : layout.order) {
    const int64_t block = BlockOf(layout, dim);
    physical.push_back(dims[dim] / block + (dims[dim] % block != 0));
  }
  for (const Layout::Block& block : layout.blocks) {
    physical.push_back(block.size);
  }
  return physical;
}

int64_t PhysicalOffset(const Layout& layout, absl::Span<const int64_t> dims,
                       absl::Span<const int64_t> index) {
  int64_t offset = 0;
  if (layout.is_row_major()) {
    for (size_t i = 0; i < dims.size(); ++i)
      offset = offset * dims[i] + index[i];
    return offset;
  }
  const Shape physical = PhysicalDims(layout, dims);
  // The rest of each index after division by the blocks inside.
  Shape rest(index.begin(), index.end());
  absl::InlinedVector<int64_t, 2> inner(layout.blocks.size());
  for (size_t i = layout.blocks.size(); i-- > 0;) {
    const Layout::Block& block = layout.blocks[i];
    inner[i] = rest[block.dim] % block.size;
    rest[block.dim] /= block.size;
  }
  size_t axis = 0;
  for (uint8_t dim : layout.order)
    offset = offset * physical[axis++] + rest[dim];
  for (int64_t position : inner) offset = offset * physical[axis++] + position;
  return offset;
}

}  // namespace partita
