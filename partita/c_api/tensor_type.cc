// Converts element types and shapes, and checks tensors of the caller.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/tensor_type.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/status_macros.h"
#include "partita/c_api/border.h"
#include "partita/c_api/versioned_struct.h"

namespace partita::c_api {
namespace {

constexpr char kTensor[] = "partita_tensor";

static_assert(kMaxRank <= PARTITA_MAX_RANK, "partita_tensor has every shape");

struct DTypeRow {
  partita_dtype in_c;
  DType dtype;
  const char* name;  // DTypeName, with a zero byte
};
constexpr DTypeRow kDTypes[] = {
    {PARTITA_F64, DType::kF64, "f64"},    {PARTITA_F32, DType::kF32, "f32"},
    {PARTITA_F16, DType::kF16, "f16"},    {PARTITA_BF16, DType::kBF16, "bf16"},
    {PARTITA_I64, DType::kI64, "i64"},    {PARTITA_I32, DType::kI32, "i32"},
    {PARTITA_I16, DType::kI16, "i16"},    {PARTITA_I8, DType::kI8, "i8"},
    {PARTITA_U8, DType::kU8, "u8"},       {PARTITA_U16, DType::kU16, "u16"},
    {PARTITA_U32, DType::kU32, "u32"},    {PARTITA_U64, DType::kU64, "u64"},
    {PARTITA_BOOL, DType::kBool, "bool"},
};
static_assert(std::size(kDTypes) == kNumDTypes, "every element type");

partita_dtype InC(DType dtype) {
  return absl::c_find_if(
             kDTypes,
             [dtype](const DTypeRow& row) { return row.dtype == dtype; })
      ->in_c;
}

const DTypeRow* RowOf(partita_dtype dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.in_c == dtype) return &row;
  }
  return nullptr;
}

absl::StatusOr<TensorType> TypeOf(const partita_tensor& tensor,
                                  absl::string_view where) {
  const DTypeRow* row = RowOf(tensor.dtype);
  if (row == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": found dtype ", tensor.dtype,
                     "; expected a partita_dtype, as PARTITA_F32"));
  }
  if (tensor.rank < 0 || tensor.rank > PARTITA_MAX_RANK) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": found rank ", tensor.rank, "; expected 0..",
                     PARTITA_MAX_RANK));
  }
  TensorType type;
  type.dtype = row->dtype;
  type.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  return type;
}

}  // namespace

absl::Status FillTensor(const TensorType& type, const void* data,
                        partita_tensor* tensor) {
  partita_tensor filled = partita_tensor_empty();
  filled.dtype = InC(type.dtype);
  filled.rank = type.rank();
  absl::c_copy(type.dims, filled.dims);
  filled.data = const_cast<void*>(data);
  filled.bytes = static_cast<size_t>(type.RowMajor().num_bytes());
  return WriteStruct(filled, kTensor, tensor);
}

absl::StatusOr<void*> DataOfType(const partita_tensor* tensor,
                                 const TensorType& type,
                                 absl::string_view where) {
  PARTITA_ASSIGN_OR_RETURN(const partita_tensor given,
                           ReadStruct(tensor, kTensor));
  PARTITA_ASSIGN_OR_RETURN(const TensorType found, TypeOf(given, where));
  const TensorType expected = type.RowMajor();
  if (found != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": found ", found.ToString(), "; expected ",
                     expected.ToString()));
  }
  const auto needed = static_cast<size_t>(expected.num_bytes());
  if (given.bytes < needed) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": found data of ", given.bytes,
                     " bytes; expected at least ", needed));
  }
  if (needed == 0) return given.data;
  PARTITA_RETURN_IF_ERROR(
      CheckGiven(given.data, absl::StrCat(where, ", data"),
                 absl::StrCat("a pointer to ", needed, " bytes")));
  return given.data;
}

}  // namespace partita::c_api

const char* partita_dtype_name(partita_dtype dtype) {
  const auto* row = partita::c_api::RowOf(dtype);
  return row == nullptr ? "" : row->name;
}
