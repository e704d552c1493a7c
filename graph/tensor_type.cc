// Sizes, text and validity of tensor types.
// SPDX-License-Identifier: Apache-2.0

#include "graph/tensor_type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace partita {
namespace {

// True if dims[0] * dims[1] * ... exceeds `limit`. Zeros are skipped, so that
// an empty tensor cannot hide an excessive extent.
bool ProductExceeds(absl::Span<const int64_t> dims, int64_t limit) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (dim == 0) continue;
    if (product > limit / dim) return true;
    product *= dim;
  }
  return false;
}

}  // namespace

int64_t Product(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

int64_t TensorType::num_elements() const { return Product(dims); }

int64_t TensorType::num_stored_elements() const {
  return layout.is_row_major() ? Product(dims)
                               : Product(PhysicalDims(layout, dims));
}

int64_t TensorType::num_bytes() const {
  return (num_stored_elements() * BitsOf(dtype) + 7) / 8;
}

std::string TensorType::ToString() const {
  std::string text =
      absl::StrCat(DTypeName(dtype), "[", absl::StrJoin(dims, ", "), "]");
  if (!layout.is_row_major())
    absl::StrAppend(&text, "{", layout.ToString(), "}");
  return text;
}

absl::Status CheckType(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found rank ", type.rank(), "; expected at most ", kMaxRank));
  }
  for (int64_t dim : type.dims) {
    if (dim < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("found extent ", dim, " in ", type.ToString(),
                       "; expected extents of 0 or more"));
    }
  }
  if (!type.layout.is_row_major() &&
      type.layout.order.size() != type.dims.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found layout {", type.layout.ToString(), "} for rank ",
                     type.rank(), "; expected one letter per dimension"));
  }
  const int64_t limit = kMaxTensorBytes * 8 / BitsOf(type.dtype);
  if (ProductExceeds(type.dims, limit) ||
      ProductExceeds(PhysicalDims(type.layout, type.dims), limit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", type.ToString(), ", which takes more than ",
                     kMaxTensorBytes, " bytes; expected a smaller tensor"));
  }
  return absl::OkStatus();
}

Shape RowMajorStrides(absl::Span<const int64_t> dims) {
  Shape strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

}  // namespace partita
