// Layout conversions as strided copies. Each dimension is split into the digits
// that both layouts' blocks agree on, with full blocks separate from the rest.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/copy/layout_copy.h"

#include <algorithm>

namespace partita {
namespace {

// How one layout stores a dimension: position p is at the sum over its parts of
// (p / below % size) * stride; the outermost part is unbounded. Parts are
// ordered from the inside out.
struct Part {
  int64_t below;   // positions that one step of this part spans
  int64_t stride;  // in elements
};
using Parts = absl::InlinedVector<Part, 3>;

std::vector<Parts> PartsOf(const TensorType& type) {
  const int rank = type.rank();
  std::vector<Parts> parts(rank);
  std::vector<int64_t> below(rank, 1);
  const Layout& layout = type.layout;
  const Shape physical = PhysicalDims(layout, type.dims);
  int64_t stride = 1;
  for (size_t i = layout.blocks.size(); i-- > 0;) {
    const Layout::Block& block = layout.blocks[i];
    parts[block.dim].push_back({below[block.dim], stride});
    below[block.dim] *= block.size;
    stride *= block.size;
  }
  for (int i = rank; i-- > 0;) {
    const int dim = layout.is_row_major() ? i : layout.order[i];
    parts[dim].push_back({below[dim], stride});
    stride *= physical[i];
  }
  return parts;
}

// Distance between positions p and p + step, if no boundary of a part is
// between step and the part that holds it.
int64_t StrideAt(const Parts& parts, int64_t step) {
  size_t part = 0;
  while (part + 1 < parts.size() && parts[part + 1].below <= step) ++part;
  return parts[part].stride * (step / parts[part].below);
}

int64_t OffsetOf(const Parts& parts, int64_t position) {
  int64_t offset = 0;
  for (size_t i = parts.size(); i-- > 0;) {
    offset += position / parts[i].below * parts[i].stride;
    position %= parts[i].below;
  }
  return offset;
}

// A run of positions that is a product of digits.
struct Segment {
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  std::vector<CopyDim> digits;
};

// The steps at which either layout starts a new part, outermost first.
absl::InlinedVector<int64_t, 4> Steps(const Parts& from, const Parts& to) {
  absl::InlinedVector<int64_t, 4> steps;
  for (const Part& part : from) steps.push_back(part.below);
  for (const Part& part : to) steps.push_back(part.below);
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// One segment for each position, for blocks that do not divide each other.
std::vector<Segment> SinglePositions(const Parts& from, const Parts& to,
                                     int64_t extent) {
  std::vector<Segment> segments;
  for (int64_t p = 0; p < extent; ++p) {
    segments.push_back({OffsetOf(from, p), OffsetOf(to, p), {}});
  }
  return segments;
}

std::vector<Segment> SplitDim(const Parts& from, const Parts& to,
                              int64_t extent) {
  const absl::InlinedVector<int64_t, 4> steps = Steps(from, to);
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i - 1] % steps[i] != 0) return SinglePositions(from, to, extent);
  }
  std::vector<Segment> segments;
  int64_t start = 0;
  for (size_t level = 0; level < steps.size() && start < extent; ++level) {
    const int64_t full = (extent - start) / steps[level];
    if (full == 0) continue;
    Segment segment{OffsetOf(from, start), OffsetOf(to, start), {}};
    segment.digits.push_back(
        {full, StrideAt(from, steps[level]), StrideAt(to, steps[level])});
    for (size_t inner = level + 1; inner < steps.size(); ++inner) {
      segment.digits.push_back({steps[inner - 1] / steps[inner],
                                StrideAt(from, steps[inner]),
                                StrideAt(to, steps[inner])});
    }
    segments.push_back(std::move(segment));
    start += full * steps[level];
  }
  return segments;
}

}  // namespace

LayoutCopy::LayoutCopy(const TensorType& from, const TensorType& to) {
  const int element_bytes = BitsOf(to.dtype) / 8;
  if (from.layout == to.layout) {
    const CopyDim all = {to.num_stored_elements(), 1, 1};
    boxes_.emplace_back(element_bytes, absl::MakeConstSpan(&all, 1));
    return;
  }
  if (to.num_elements() == 0) return;
  if (to.num_stored_elements() != to.num_elements()) {
    zeroed_bytes_ = to.num_bytes();
  }
  const std::vector<Parts> from_parts = PartsOf(from);
  const std::vector<Parts> to_parts = PartsOf(to);
  std::vector<std::vector<Segment>> segments;
  for (int dim = 0; dim < to.rank(); ++dim) {
    segments.push_back(SplitDim(from_parts[dim], to_parts[dim], to.dims[dim]));
  }
  // One box for each combination of segments.
  std::vector<size_t> at(segments.size(), 0);
  while (true) {
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    std::vector<CopyDim> dims;
    for (size_t dim = 0; dim < segments.size(); ++dim) {
      const Segment& segment = segments[dim][at[dim]];
      from_offset += segment.from_offset;
      to_offset += segment.to_offset;
      dims.insert(dims.end(), segment.digits.begin(), segment.digits.end());
    }
    boxes_.emplace_back(element_bytes, dims, from_offset, to_offset);
    size_t dim = 0;
    while (dim < segments.size() && ++at[dim] == segments[dim].size())
      at[dim++] = 0;
    if (dim == segments.size()) return;
  }
}

void LayoutCopy::Run(const void* from, void* to, int threads) const {
  if (zeroed_bytes_ > 0) ZeroBytes(to, zeroed_bytes_, threads);
  for (const StridedCopy& box : boxes_) box.Run(from, to, threads);
}

}  // namespace partita
