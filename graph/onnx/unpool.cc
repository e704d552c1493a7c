// ONNX ops that spread windows over images.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/window_attributes.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// The extents of the operand of the pool with the node's window.
absl::StatusOr<Ints> Unpooled(NodeImport& node) {
  const Shape& dims = node.type(0).dims;
  PARTITA_ASSIGN_OR_RETURN(const OnnxWindow window, ReadWindow(node, dims, {}));
  if (node.type(1).dims != dims) {
    return node.Invalid(
        absl::StrCat("indices ", node.type(1).ToString()),
        absl::StrCat("one for each of ", node.type(0).ToString()));
  }
  Ints shape = {dims[0], dims[1]};
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    if (dims[d + 2] > kMaxTensorBytes / window.strides[d]) {
      return node.Invalid(absl::StrCat("stride ", window.strides[d]),
                          "a result that fits");
    }
    shape.push_back((dims[d + 2] - 1) * window.strides[d] + window.kernel[d] -
                    window.before[d] - window.after[d]);
    if (dims[d + 2] > 0 && shape.back() >= 0) continue;
    return node.Invalid(absl::StrCat("an extent of ", shape.back()),
                        "elements, and pads that leave some");
  }
  return shape;
}

// Zeros with the operand's elements at the indices, then extended to
// output_shape.
absl::Status MaxUnpool(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints shape, Unpooled(node));
  Ints wanted = shape;
  if (node.has_input(2)) {
    PARTITA_ASSIGN_OR_RETURN(wanted, node.Ints(2, "output_shape"));
  }
  bool holds = wanted.size() == shape.size();
  for (size_t d = 0; holds && d < shape.size(); ++d) {
    holds = d < 2 ? wanted[d] == shape[d] : wanted[d] >= shape[d];
  }
  if (!holds) {
    return node.Invalid(
        absl::StrCat("output_shape [", absl::StrJoin(wanted, ", "), "]"),
        absl::StrCat("[", absl::StrJoin(shape, ", "),
                     "] or more in spatial dimensions"));
  }
  Composition c(node);
  const Expr x = c.Input(0);
  const Expr zeros = c.Filled(x.dtype(), shape, 0);
  const int64_t count = x.type().num_elements();
  Expr y = c.Add(kScatterElements,
                 {zeros.Reshaped({zeros.type().num_elements()}),
                  c.Input(1).Reshaped({count}), x.Reshaped({count})},
                 {{"axis", int64_t{0}}, {"from_end", false}})
               .Reshaped(shape);
  for (int d = 2; d < static_cast<int>(shape.size()); ++d) {
    y = y.Padded(d, 0, wanted[d] - shape[d]);
  }
  return c.Return(y);
}

struct Blocks {
  Ints image;
  Ints block;
  OnnxWindow window;
  Ints counts;  // of blocks
  Ints unread;  // the end that no block reaches
  int64_t taps = 1;
};

absl::StatusOr<Blocks> ReadBlocks(NodeImport& node) {
  const TensorType& x = node.type(0);
  Blocks b;
  PARTITA_ASSIGN_OR_RETURN(b.image, node.Ints(1, "image_shape"));
  PARTITA_ASSIGN_OR_RETURN(b.block, node.Ints(2, "block_shape"));
  if (x.rank() != 3 || b.image.empty() || b.image.size() != b.block.size()) {
    return node.Invalid(absl::StrCat(x.ToString(), ", ", b.image.size(),
                                     " extents of an image and ",
                                     b.block.size(), " of a block"),
                        "[n, channels * block, blocks] and as many of both");
  }
  Shape dims = {x.dims[0], 1};
  dims.insert(dims.end(), b.image.begin(), b.image.end());
  PARTITA_RETURN_IF_ERROR(CheckType({x.dtype, dims, {}}));
  PARTITA_ASSIGN_OR_RETURN(b.window, ReadWindow(node, dims, b.block));
  for (size_t d = 0; d < b.image.size(); ++d) {
    const OnnxWindow& w = b.window;
    const int64_t rest = b.image[d] + w.before[d] + w.after[d] -
                         ((b.block[d] - 1) * w.dilations[d] + 1);
    b.counts.push_back(rest < 0 ? 0 : rest / w.strides[d] + 1);
    b.unread.push_back(rest < 0 ? 0 : rest % w.strides[d]);
    if (b.block[d] > x.dims[1] / b.taps) b.taps = x.dims[1] + 1;
    b.taps = b.taps > x.dims[1] ? b.taps : b.taps * b.block[d];
  }
  return b;
}

absl::Status CheckBlocks(const NodeImport& node, const Blocks& b) {
  const TensorType& x = node.type(0);
  constexpr int64_t kMaxTaps = 4096;
  if (b.taps > kMaxTaps || x.dims[1] % b.taps != 0) {
    return node.Invalid(absl::StrCat(x.ToString(), " for blocks of [",
                                     absl::StrJoin(b.block, ", "), "]"),
                        absl::StrCat("whole blocks of at most ", kMaxTaps,
                                     " elements in dimension 1"));
  }
  double count = 1;
  for (int64_t blocks : b.counts) count *= static_cast<double>(blocks);
  if (count == static_cast<double>(x.dims[2]) && x.dims[2] > 0) {
    return absl::OkStatus();
  }
  return node.Invalid(absl::StrCat(x.dims[2], " blocks"),
                      absl::StrCat("[", absl::StrJoin(b.counts, ", "),
                                   "] of them, as the image has"));
}

// A transposed convolution whose filters place each element.
absl::Status Col2Im(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Blocks b, ReadBlocks(node));
  PARTITA_RETURN_IF_ERROR(CheckBlocks(node, b));
  Composition c(node);
  const Shape x = node.type(0).dims;
  const int64_t channels = x[1] / b.taps;
  std::vector<double> places(b.taps * b.taps, 0);
  for (int64_t t = 0; t < b.taps; ++t) places[t * b.taps + t] = 1;
  Ints columns = {x[0], x[1]};
  columns.insert(columns.end(), b.counts.begin(), b.counts.end());
  Ints filters = {x[1], 1};
  filters.insert(filters.end(), b.block.begin(), b.block.end());
  const DType dtype = node.type(0).dtype;
  const Expr weights = c.Numbers(dtype, {1, b.taps, b.taps}, places)
                           .Expanded({channels, b.taps, b.taps})
                           .Reshaped(filters);
  Attributes attributes = WindowAttributes(b.window);
  attributes.Set("groups", channels);
  attributes.Set("output_padding", std::move(b.unread));
  return c.Return(c.Add(kConvTranspose, {c.Input(0).Reshaped(columns), weights},
                        std::move(attributes)));
}

constexpr ConverterRow kRows[] = {
    {"Col2Im", Col2Im, 3, 1, "dilations pads strides"},
    {"MaxUnpool", MaxUnpool, 2, 1, "kernel_shape pads strides"},
};

}  // namespace

extern constinit const ConverterFamily kUnpoolConverters = {kRows};

}  // namespace partita
