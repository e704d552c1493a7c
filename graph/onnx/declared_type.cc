// Declarations contain extents, names of extents, or nothing.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/declared_type.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// "f32", or ONNX's number of a type that we lack.
std::string DTypeText(int elem_type) {
  const std::optional<DType> dtype = DTypeOfOnnx(elem_type);
  return dtype.has_value() ? std::string(DTypeName(*dtype))
                           : absl::StrCat("element type ", elem_type);
}

bool DTypeAgrees(const onnx::TypeProto::Tensor& declared, DType dtype) {
  return declared.elem_type() == onnx::TensorProto::UNDEFINED ||
         DTypeOfOnnx(declared.elem_type()) == dtype;
}

bool ShapeAgrees(const onnx::TypeProto::Tensor& declared, const Shape& dims) {
  if (!declared.has_shape()) return true;
  const onnx::TensorShapeProto& shape = declared.shape();
  if (shape.dim_size() != static_cast<int>(dims.size())) return false;
  for (int i = 0; i < shape.dim_size(); ++i) {
    if (IsFixed(shape.dim(i)) && shape.dim(i).dim_value() != dims[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsFixed(const onnx::TensorShapeProto::Dimension& dim) {
  return dim.has_dim_value() && dim.dim_value() > 0;
}

bool IsNamed(const onnx::TensorShapeProto::Dimension& dim) {
  static constexpr absl::string_view kUnknown[] = {"", "?", "*", "-1", "None"};
  return !absl::c_linear_search(kUnknown, dim.dim_param());
}

std::string ShapeText(const onnx::TensorShapeProto& shape) {
  std::vector<std::string> dims;
  for (const auto& dim : shape.dim()) {
    dims.push_back(IsNamed(dim)          ? dim.dim_param()
                   : dim.has_dim_value() ? absl::StrCat(dim.dim_value())
                                         : "?");
  }
  return absl::StrJoin(dims, ", ");
}

absl::Status CheckExtents(const onnx::TensorShapeProto& shape,
                          absl::string_view what) {
  for (const auto& dim : shape.dim()) {
    if (!dim.has_dim_value() || dim.dim_value() >= -1) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": found [", ShapeText(shape),
        "]; expected extents, or -1 or a name for one that is open"));
  }
  return absl::OkStatus();
}

absl::Status CheckDeclaredExtents(const onnx::ValueInfoProto& declared,
                                  absl::string_view what) {
  return CheckExtents(declared.type().tensor_type().shape(), what);
}

absl::Status CheckDeclaredDType(const onnx::ValueInfoProto& declared,
                                const TensorType& type,
                                absl::string_view what) {
  if (!declared.type().has_tensor_type() ||
      DTypeAgrees(declared.type().tensor_type(), type.dtype)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found ", FoundAndDeclared(type, declared),
                   "; fix the declaration or the node"));
}

bool IsDeclaredAs(const onnx::ValueInfoProto& declared,
                  const TensorType& type) {
  if (!declared.type().has_tensor_type()) return true;
  const onnx::TypeProto::Tensor& tensor = declared.type().tensor_type();
  return DTypeAgrees(tensor, type.dtype) && ShapeAgrees(tensor, type.dims);
}

std::string FoundAndDeclared(const TensorType& type,
                             const onnx::ValueInfoProto& declared) {
  const onnx::TypeProto::Tensor& tensor = declared.type().tensor_type();
  return absl::StrCat(
      type.ToString(), "; expected ", DTypeText(tensor.elem_type()),
      tensor.has_shape() ? absl::StrCat("[", ShapeText(tensor.shape()), "]")
                         : " of any shape",
      ", as the model declares it");
}

}  // namespace partita
