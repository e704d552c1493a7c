// Reads the window's attributes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/pool_image.h"

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

int64_t At(const OpView& node, const char* name, int i, int64_t otherwise) {
  const std::vector<int64_t>& values = node.attr_ints(name);
  return i < static_cast<int>(values.size()) ? values[i] : otherwise;
}

}  // namespace

PoolImage PoolImageOf(const OpView& pool, absl::Span<const int64_t> small) {
  const TensorType& x = pool.operand_type(0);
  PoolImage image;
  const int spatial = x.rank() - 2;
  for (int i = 0; i < spatial; ++i) {
    image.axes[3 - spatial + i] = {x.dims[i + 2],
                                   small[i + 2],
                                   pool.attr_ints("kernel")[i],
                                   At(pool, "strides", i, 1),
                                   At(pool, "dilations", i, 1),
                                   At(pool, "pads_before", i, 0)};
  }
  image.channels = x.dims[1];
  if (!x.layout.blocks.empty()) {
    image.inner = x.layout.blocks[0].size;
  } else if (!x.layout.is_row_major()) {
    image.inner = image.channels;
  }
  image.blocks = (image.channels + image.inner - 1) / image.inner;
  image.planes = x.dims[0] * image.blocks;
  return image;
}

std::vector<std::string> PoolLayouts(const OpView& pool) {
  const TensorType& x = pool.operand_type(0);
  if (x.dtype != DType::kF32 || x.rank() > 5 || x.num_elements() == 0 ||
      pool.result_type(0).num_elements() == 0) {
    return {};
  }
  const std::string all = std::string("abcde").substr(0, x.rank());
  std::vector<std::string> layouts = {"",
                                      absl::StrCat("a", all.substr(2), "b")};
  for (int block : {8, 16}) {
    layouts.push_back(absl::StrCat(all, block, "b"));
  }
  return layouts;
}

}  // namespace partita
