// Resolves auto_pad and ceil_mode into explicit padding.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/window_attributes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Larger extents, strides, pads or kernels are invalid: sums of products of two
// of them would overflow.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

// SAME_*: as many windows as strides begin in the input.
void PadSame(OnnxWindow& window, const Shape& dims, bool extra_before) {
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t extent = dims[i + 2];
    const int64_t stride = window.strides[i];
    const int64_t windows = (extent + stride - 1) / stride;
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t total =
        std::max<int64_t>(0, (windows - 1) * stride + reach - extent);
    window.before[i] = extra_before ? total - total / 2 : total / 2;
    window.after[i] = total - window.before[i];
  }
}

}  // namespace

absl::Status CheckSpatialList(NodeImport& node, const char* name,
                              const std::vector<int64_t>& list, size_t size,
                              int64_t least) {
  if (list.size() != size) {
    return node.Invalid(absl::StrCat(list.size(), " ", name),
                        absl::StrCat(size));
  }
  for (int64_t entry : list) {
    if (entry < least || entry > kMaxExtent) {
      return node.Invalid(absl::StrCat(name, " ", entry),
                          absl::StrCat(least, "..", kMaxExtent));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OnnxWindow> ReadWindow(
    NodeImport& node, const Shape& dims,
    const std::vector<int64_t>& kernel_from_weights) {
  if (dims.size() < 3) {
    return node.Invalid(absl::StrCat("rank ", dims.size()),
                        "N, C and at least one spatial dimension");
  }
  const size_t spatial = dims.size() - 2;
  PARTITA_RETURN_IF_ERROR(CheckSpatialList(
      node, "extent", {dims.begin() + 2, dims.end()}, spatial, 0));
  OnnxWindow window;
  window.kernel = node.IntList("kernel_shape");
  if (window.kernel.empty()) window.kernel = kernel_from_weights;
  if (!kernel_from_weights.empty() && window.kernel != kernel_from_weights) {
    return node.Invalid(
        absl::StrCat("kernel_shape [", absl::StrJoin(window.kernel, ", "), "]"),
        absl::StrCat("[", absl::StrJoin(kernel_from_weights, ", "),
                     "], the extents of the weights"));
  }
  window.strides = node.IntList("strides");
  window.dilations = node.IntList("dilations");
  std::vector<int64_t> pads = node.IntList("pads");
  if (window.strides.empty()) window.strides.assign(spatial, 1);
  if (window.dilations.empty()) window.dilations.assign(spatial, 1);
  if (pads.empty()) pads.assign(2 * spatial, 0);
  PARTITA_RETURN_IF_ERROR(
      CheckSpatialList(node, "kernel_shape", window.kernel, spatial, 1));
  PARTITA_RETURN_IF_ERROR(
      CheckSpatialList(node, "strides", window.strides, spatial, 1));
  PARTITA_RETURN_IF_ERROR(
      CheckSpatialList(node, "dilations", window.dilations, spatial, 1));
  PARTITA_RETURN_IF_ERROR(CheckSpatialList(node, "pads", pads, 2 * spatial, 0));
  window.before.assign(pads.begin(), pads.begin() + spatial);
  window.after.assign(pads.begin() + spatial, pads.end());
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    PadSame(window, dims, auto_pad == "SAME_LOWER");
  } else if (auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()) {
    return node.Invalid(absl::StrCat("auto_pad ", auto_pad),
                        "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  if (node.Flag("ceil_mode", false)) {
    window.ceil_extra = CeilExtra(window, dims);
  }
  return window;
}

std::vector<int64_t> CeilExtra(const OnnxWindow& window, const Shape& dims) {
  std::vector<int64_t> extras(window.kernel.size(), 0);
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t padded = dims[i + 2] + window.before[i] + window.after[i];
    const int64_t rest = padded - reach;
    if (rest < 0 || rest % window.strides[i] == 0) continue;
    const int64_t extra = window.strides[i] - rest % window.strides[i];
    // A window that would start in the end padding is dropped.
    const int64_t start = rest + extra;
    if (start < dims[i + 2] + window.before[i]) extras[i] = extra;
  }
  return extras;
}

Attributes WindowAttributes(const OnnxWindow& window) {
  return {{"strides", window.strides},
          {"dilations", window.dilations},
          {"pads_before", window.before},
          {"pads_after", window.after}};
}

}  // namespace partita
