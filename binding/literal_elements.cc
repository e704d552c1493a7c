// Walks a tensor in the order of its memory, with one index for each axis.
// SPDX-License-Identifier: Apache-2.0

#include "binding/literal_elements.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

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

template <typename Element>
class Unpacker {
 public:
  Unpacker(const HostTensor& packed, HostTensor& elements)
      : packed_(packed.bytes()),
        elements_(elements.bytes()),
        dims_(packed.type().dims),
        strides_(RowMajorStrides(dims_)),
        axes_(AxesOf(packed.type())),
        index_(dims_.size(), 0) {}

  // False if the padding is not zero.
  bool Run() {
    Walk(0, 0, /*inside=*/true);
    return padding_is_zero_;
  }

 private:
  // `offset` in the row-major elements. Outside of the dimensions is padding.
  void Walk(size_t axis, int64_t offset, bool inside) {
    if (axis == axes_.size()) return Visit(offset, inside);
    const Axis& along = axes_[axis];
    int64_t& index = index_[along.dim];
    const int64_t first = index;
    const int64_t extent = dims_[along.dim];
    const int64_t stride = along.scale * strides_[along.dim];
    for (int64_t i = 0; i < along.extent; ++i) {
      const bool stays = inside && index < extent;
      if (axis + 1 == axes_.size()) {
        Visit(offset, stays);
      } else {
        Walk(axis + 1, offset, stays);
      }
      index += along.scale;
      offset += stride;
    }
    index = first;
  }

  void Visit(int64_t offset, bool inside) {
    Element element;
    std::memcpy(&element, packed_, sizeof(Element));
    packed_ += sizeof(Element);
    if (inside) {
      std::memcpy(elements_ + offset * static_cast<int64_t>(sizeof(Element)),
                  &element, sizeof(Element));
    } else {
      padding_is_zero_ &= element == 0;
    }
  }

  const std::byte* packed_;  // the next element
  std::byte* const elements_;
  const Shape dims_;
  const Shape strides_;
  const std::vector<Axis> axes_;
  Shape index_;  // of the first element below the current axes
  bool padding_is_zero_ = true;
};

bool Unpack(const HostTensor& packed, HostTensor& elements) {
  switch (BitsOf(packed.type().dtype)) {
    case 8:
      return Unpacker<uint8_t>(packed, elements).Run();
    case 16:
      return Unpacker<uint16_t>(packed, elements).Run();
    case 32:
      return Unpacker<uint32_t>(packed, elements).Run();
    default:
      return Unpacker<uint64_t>(packed, elements).Run();
  }
}

}  // namespace

std::optional<HostTensor> UnpackedElements(const HostTensor& packed) {
  if (packed.type().layout.is_row_major()) return packed.Clone();
  HostTensor elements(packed.type().RowMajor());
  if (!Unpack(packed, elements)) return std::nullopt;
  return elements;
}

std::optional<std::string> ElementsKey(const LiteralPool& literals,
                                       LiteralId literal) {
  const TensorType& type = literals.type(literal);
  if (type.layout.is_row_major() || !literals.has_bytes(literal)) {
    return absl::StrCat(type.ToString(), " ",
                        literals.hash(literal).ToString());
  }
  const std::optional<HostTensor> elements =
      UnpackedElements(literals.tensor(literal));
  if (!elements.has_value()) return std::nullopt;
  return absl::StrCat(type.RowMajor().ToString(), " ",
                      HashBytes(elements->byte_span()).ToString());
}

}  // namespace partita
