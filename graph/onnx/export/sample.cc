// Exports ops that read images at positions that are data.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

absl::Status GridSample(NodeExport& node) {
  if (node.rank(0) != 4) {
    return node.Unsupported(absl::StrCat("rank ", node.rank(0)),
                            "images, of rank 4");
  }
  const std::string mode = node.op().attr_string("mode");
  node.Give(node.operands())
      .String("mode", mode == "nearest" ? mode : absl::StrCat("bi", mode))
      .String("padding_mode", node.op().attr_string("padding"))
      .Int("align_corners", node.op().attr_bool("align_corners"));
  return absl::OkStatus();
}

absl::Status RoiAlign(NodeExport& node) {
  const OpView& op = node.op();
  OnnxNode written = node.Give(node.operands());
  written.String("mode", op.attr_string("mode"))
      .String("coordinate_transformation_mode",
              op.attr_bool("half_pixel") ? "half_pixel" : "output_half_pixel")
      .Int("output_height", op.attr_int("height"))
      .Int("output_width", op.attr_int("width"))
      .Int("sampling_ratio", op.attr_int("sampling_ratio"));
  node.CopyFloat(written, "spatial_scale", "spatial_scale");
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kGridSample, "GridSample", GridSample},
    {&kRoiAlign, "RoiAlign", RoiAlign},
};

}  // namespace

extern constinit const ExportFamily kSampleExports = {kRows};

}  // namespace partita
