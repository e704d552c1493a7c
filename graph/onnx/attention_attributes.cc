// Reads scales, windows, types and the stage that is shown.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/attention_attributes.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// The standard scales queries and keys by the root of `scale`.
absl::Status ReadScales(NodeImport& node, int64_t size,
                        AttentionAttributes& options) {
  const double otherwise = 1 / std::sqrt(static_cast<double>(size));
  options.scale = node.Float("scale", otherwise);
  options.softcap = node.Float("softcap", 0);
  if (!(options.scale >= 0)) {
    return node.Invalid(absl::StrCat("scale ", options.scale), "0 or more");
  }
  if (options.softcap >= 0) return absl::OkStatus();
  return node.Invalid(absl::StrCat("softcap ", options.softcap), "0 or more");
}

// A window larger than any tensor leaves its side open.
absl::StatusOr<int64_t> WindowSize(NodeImport& node, absl::string_view name) {
  const int64_t size = node.Int(name, -1);
  if (size >= -1) return std::min(size, kMaxTensorBytes);
  return node.Invalid(absl::StrCat(name, " ", size), "-1 or more");
}

absl::StatusOr<DType> SoftmaxDType(NodeImport& node) {
  const DType otherwise = node.type(0).dtype;
  if (!node.has_attr("softmax_precision")) return otherwise;
  const int64_t type = node.Int("softmax_precision", 0);
  for (const int known :
       {onnx::TensorProto::FLOAT, onnx::TensorProto::FLOAT16,
        onnx::TensorProto::DOUBLE, onnx::TensorProto::BFLOAT16}) {
    if (type == known) return *DTypeOfOnnx(known);
  }
  return node.Invalid(absl::StrCat("softmax_precision ", type),
                      "1 (f32), 10 (f16), 11 (f64) or 16 (bf16)");
}

}  // namespace

absl::StatusOr<AttentionAttributes> ReadAttentionAttributes(NodeImport& node,
                                                            int64_t size) {
  AttentionAttributes options;
  PARTITA_RETURN_IF_ERROR(ReadScales(node, size, options));
  options.causal = node.Flag("is_causal", false);
  PARTITA_ASSIGN_OR_RETURN(options.left, WindowSize(node, "left_window_size"));
  PARTITA_ASSIGN_OR_RETURN(options.right,
                           WindowSize(node, "right_window_size"));
  PARTITA_ASSIGN_OR_RETURN(options.softmax_dtype, SoftmaxDType(node));
  const int64_t stage = node.Int("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) {
    return node.Invalid(absl::StrCat("qk_matmul_output_mode ", stage), "0..3");
  }
  options.stage = static_cast<AttentionStage>(stage);
  return options;
}

}  // namespace partita
