// Compares labels with the number of classes as they are read.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/status_macros.h"
#include "graph/text/number_text.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

absl::Status CheckOptions(absl::string_view field, const TensorType& type,
                          const ClassLabels& labels) {
  if (!IsSignedInteger(type.dtype) && !IsUnsignedInteger(type.dtype)) {
    return BadFile(field, type.ToString(), "integers as labels",
                   "save them as integers");
  }
  if (labels.dtype != DType::kI64 && labels.dtype != DType::kI32) {
    return BadFile(field, absl::StrCat("label dtype ", DTypeName(labels.dtype)),
                   "i64 or i32");
  }
  const int64_t most =
      labels.dtype == DType::kI32 ? int64_t{1} << 31 : kMaxTensorBytes;
  if (labels.num_classes >= 1 && labels.num_classes <= most) {
    return absl::OkStatus();
  }
  return BadFile(field, absl::StrCat(labels.num_classes, " classes"),
                 absl::StrCat("1 to ", most));
}

std::string Expected(const ClassLabels& labels) {
  std::string text = absl::StrCat("0..", labels.num_classes - 1);
  if (labels.ignored.has_value()) {
    absl::StrAppend(&text, " or ", *labels.ignored);
  }
  return text;
}

}  // namespace

absl::StatusOr<SharedDataset> CheckLabels(SharedDataset dataset,
                                          absl::string_view field,
                                          const ClassLabels& labels) {
  PARTITA_ASSIGN_OR_RETURN(const int index, dataset->FieldIndex(field));
  const TensorType from = dataset->fields()[index].type;
  PARTITA_RETURN_IF_ERROR(CheckOptions(field, from, labels));
  const TensorType to = {labels.dtype, labels.dims.value_or(from.dims), {}};
  if (to.num_elements() != from.num_elements()) {
    return BadFile(field, from.ToString(),
                   absl::StrCat("as many elements as ", to.ToString()),
                   "give a file of such labels");
  }
  FieldFunction function = [from, to, labels, name = std::string(field)](
                               int64_t, const std::byte* x, std::byte* y) {
    const HostTensor old = HostTensor::ConstView(from, x);
    HostTensor checked = HostTensor::View(to, y);
    for (int64_t i = 0; i < from.num_elements(); ++i) {
      const Number label = GetNumber(old, i);
      const bool in_range =
          label.is_integer() &&
          label.ToWrapped() < static_cast<uint64_t>(labels.num_classes);
      const bool ignored =
          labels.ignored.has_value() && label == Number(*labels.ignored);
      if (!in_range && !ignored) {
        return BadFile(name, absl::StrCat("label ", NumberText(label)),
                       Expected(labels),
                       "correct the dataset or the number of classes");
      }
      SetNumber(checked, i, label);
    }
    return absl::OkStatus();
  };
  return TransformField(std::move(dataset), field, to, std::move(function));
}

}  // namespace partita
