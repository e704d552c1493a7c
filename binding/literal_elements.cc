// Walks a tensor in the order of its memory, with one index for each axis.
// SPDX-License-Identifier: Apache-2.0

#include "binding/literal_elements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// A dimension of the memory: the outer part of a dimension, or one of its
// blocks. A step along it moves `scale` indices of the dimension.
struct Axis {
  int dim;
  int64_t extent;
  int64_t scale;
};

// Outermost first. Inner blocks of a dimension scale those outside of them.
std::vector<Axis> AxesOf(const TensorType& type) {
  const Layout& layout = type.layout;
  std::vector<int64_t> scale(type.rank(), 1);
  std::vector<Axis> axes;
  for (auto block = layout.blocks.rbegin(); block != layout.blocks.rend();
       ++block) {
    axes.push_back({block->dim, block->size, scale[block->dim]});
    scale[block->dim] *= block->size;
  }
  for (auto dim = layout.order.rbegin(); dim != layout.order.rend(); ++dim) {
    const int64_t extent = type.dims[*dim];
    axes.push_back(
        {*dim, (extent + scale[*dim] - 1) / scale[*dim], scale[*dim]});
  }
  absl::c_reverse(axes);
  return axes;
}

// Neighbours in the packed bytes: along the innermost axis, so they differ by
// one index of one dimension.
struct Run {
  const std::byte* packed;
  int64_t offset;   // of the first in the row-major elements
  int64_t stride;   // from one to the next there
  int64_t count;    // elements of the tensor
  int64_t padding;  // stored behind them
};

// Calls visit(run) for all runs in memory order, until it returns false.
template <typename Element, typename Visit>
class PackedWalk {
 public:
  PackedWalk(const HostTensor& packed, Visit visit)
      : packed_(packed.bytes()),
        visit_(std::move(visit)),
        dims_(packed.type().dims),
        strides_(RowMajorStrides(dims_)),
        axes_(AxesOf(packed.type())),
        index_(dims_.size(), 0) {}

  // False if a visit returned false.
  bool Walk() { return Walk(0, 0, /*inside=*/true); }

 private:
  // `offset` in the row-major elements. Outside of the dimensions is padding.
  bool Walk(size_t axis, int64_t offset, bool inside) {
    const Axis& along = axes_[axis];
    if (axis + 1 == axes_.size()) return VisitRun(along, offset, inside);
    int64_t& index = index_[along.dim];
    const int64_t first = index;
    const int64_t stride = along.scale * strides_[along.dim];
    bool goes_on = true;
    for (int64_t i = 0; goes_on && i < along.extent; ++i) {
      goes_on = Walk(axis + 1, offset, inside && index < dims_[along.dim]);
      index += along.scale;
      offset += stride;
    }
    index = first;
    return goes_on;
  }

  // The scale of the innermost axis is 1.
  bool VisitRun(const Axis& along, int64_t offset, bool inside) {
    const int64_t left = dims_[along.dim] - index_[along.dim];
    const int64_t count =
        inside ? std::clamp<int64_t>(left, 0, along.extent) : 0;
    const Run run = {packed_, offset, strides_[along.dim], count,
                     along.extent - count};
    packed_ += along.extent * static_cast<int64_t>(sizeof(Element));
    return visit_(run);
  }

  const std::byte* packed_;  // the next element
  Visit visit_;
  const Shape dims_;
  const Shape strides_;
  const std::vector<Axis> axes_;
  Shape index_;  // of the first element below the current axes
};

template <typename Element>
Element ElementAt(const std::byte* bytes, int64_t index) {
  Element element;
  std::memcpy(&element, bytes + index * static_cast<int64_t>(sizeof(Element)),
              sizeof(Element));
  return element;
}

template <typename Element>
bool PaddingIsZero(const Run& run) {
  for (int64_t i = 0; i < run.padding; ++i) {
    if (ElementAt<Element>(run.packed, run.count + i) != 0) return false;
  }
  return true;
}

// Compares all elements of a run before it decides: that is faster than one
// branch for each.
template <typename Element>
bool Compare(const HostTensor& packed, const HostTensor& elements) {
  const std::byte* const bytes = elements.bytes();
  const auto is_equal = [bytes](const Run& run) {
    Element differs = 0;
    for (int64_t i = 0; i < run.count; ++i) {
      const Element expected =
          ElementAt<Element>(bytes, run.offset + i * run.stride);
      differs |= ElementAt<Element>(run.packed, i) ^ expected;
    }
    return differs == 0 && PaddingIsZero<Element>(run);
  };
  return PackedWalk<Element, decltype(is_equal)>(packed, is_equal).Walk();
}

template <typename Element>
bool Unpack(const HostTensor& packed, HostTensor& elements) {
  std::byte* const bytes = elements.bytes();
  const auto scatter = [bytes](const Run& run) {
    for (int64_t i = 0; i < run.count; ++i) {
      const Element element = ElementAt<Element>(run.packed, i);
      const int64_t to = run.offset + i * run.stride;
      std::memcpy(bytes + to * static_cast<int64_t>(sizeof(Element)), &element,
                  sizeof(Element));
    }
    return PaddingIsZero<Element>(run);
  };
  return PackedWalk<Element, decltype(scatter)>(packed, scatter).Walk();
}

}  // namespace

bool HasElements(const HostTensor& packed, const HostTensor& elements) {
  switch (BitsOf(packed.type().dtype)) {
    case 8:
      return Compare<uint8_t>(packed, elements);
    case 16:
      return Compare<uint16_t>(packed, elements);
    case 32:
      return Compare<uint32_t>(packed, elements);
    default:
      return Compare<uint64_t>(packed, elements);
  }
}

std::optional<HostTensor> UnpackedElements(const HostTensor& packed) {
  HostTensor elements(packed.type().RowMajor());
  const auto unpack = [&] {
    switch (BitsOf(packed.type().dtype)) {
      case 8:
        return Unpack<uint8_t>(packed, elements);
      case 16:
        return Unpack<uint16_t>(packed, elements);
      case 32:
        return Unpack<uint32_t>(packed, elements);
      default:
        return Unpack<uint64_t>(packed, elements);
    }
  };
  if (!unpack()) return std::nullopt;
  return elements;
}

}  // namespace partita
