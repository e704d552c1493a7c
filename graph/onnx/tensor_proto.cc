// Decodes TensorProto; every size is checked before it is used.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/tensor_proto.h"

#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

// Elements in a repeated field, one each.
template <typename Field>
absl::Status FromField(const onnx::TensorProto& proto, const Field& field,
                       HostTensor& tensor) {
  const int64_t wanted = tensor.type().num_elements();
  if (field.size() != wanted) {
    return BadTensor(proto, absl::StrCat(field.size(), " elements"),
                     absl::StrCat(wanted, " for ", tensor.type().ToString()));
  }
  VisitDType(tensor.type().dtype, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < wanted; ++i) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        // 16-bit floats are stored as their bits.
        tensor.data<T>()[i].bits = static_cast<uint16_t>(field.Get(i));
      } else {
        tensor.data<T>()[i] = static_cast<T>(field.Get(i));
      }
    }
  });
  return absl::OkStatus();
}

absl::Status FromRaw(const onnx::TensorProto& proto, HostTensor& tensor) {
  const size_t wanted = static_cast<size_t>(tensor.type().num_bytes());
  if (proto.raw_data().size() != wanted) {
    return BadTensor(proto, absl::StrCat(proto.raw_data().size(), " bytes"),
                     absl::StrCat(wanted, " for ", tensor.type().ToString()));
  }
  if (wanted > 0) std::memcpy(tensor.bytes(), proto.raw_data().data(), wanted);
  NormalizeBools(tensor);
  return absl::OkStatus();
}

absl::Status FillTensor(const onnx::TensorProto& proto, HostTensor& tensor) {
  if (proto.has_raw_data()) return FromRaw(proto, tensor);
  switch (tensor.type().dtype) {
    case DType::kF32:
      return FromField(proto, proto.float_data(), tensor);
    case DType::kF64:
      return FromField(proto, proto.double_data(), tensor);
    case DType::kI64:
      return FromField(proto, proto.int64_data(), tensor);
    case DType::kU32:
    case DType::kU64:
      return FromField(proto, proto.uint64_data(), tensor);
    default:
      return FromField(proto, proto.int32_data(), tensor);
  }
}

absl::string_view NameOf(const onnx::TensorProto& proto) {
  return proto.name().empty() ? "(unnamed)" : absl::string_view(proto.name());
}

// "8 (STRING)"; numbers that ONNX does not know have no name.
std::string ElementTypeText(int data_type) {
  if (!onnx::TensorProto::DataType_IsValid(data_type)) {
    return absl::StrCat(data_type);
  }
  return absl::StrCat(data_type, " (",
                      onnx::TensorProto::DataType_Name(
                          static_cast<onnx::TensorProto::DataType>(data_type)),
                      ")");
}

// The number of elements in the proto itself, which bounds the allocation.
int64_t StoredBytes(const onnx::TensorProto& proto) {
  return static_cast<int64_t>(proto.ByteSizeLong());
}

// True if the message's fields end within it. protobuf makes room for a field
// of the stated length, up to 50 MB, before it looks for the bytes.
bool HasWholeFields(absl::string_view bytes) {
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  while (const uint32_t tag = in.ReadTag()) {
    if (!google::protobuf::internal::WireFormatLite::SkipField(&in, tag)) {
      return false;
    }
  }
  return in.ConsumedEntireMessage();
}

}  // namespace

absl::Status BadTensor(const onnx::TensorProto& proto, absl::string_view found,
                       absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "tensor ", NameOf(proto), ": found ", found, "; expected ", expected));
}

std::optional<DType> DTypeOfOnnx(int64_t data_type) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (OnnxOfDType(dtype) == data_type) return dtype;
  }
  return std::nullopt;
}

int OnnxOfDType(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return onnx::TensorProto::DOUBLE;
    case DType::kF32:
      return onnx::TensorProto::FLOAT;
    case DType::kF16:
      return onnx::TensorProto::FLOAT16;
    case DType::kBF16:
      return onnx::TensorProto::BFLOAT16;
    case DType::kI64:
      return onnx::TensorProto::INT64;
    case DType::kI32:
      return onnx::TensorProto::INT32;
    case DType::kI16:
      return onnx::TensorProto::INT16;
    case DType::kI8:
      return onnx::TensorProto::INT8;
    case DType::kU8:
      return onnx::TensorProto::UINT8;
    case DType::kU16:
      return onnx::TensorProto::UINT16;
    case DType::kU32:
      return onnx::TensorProto::UINT32;
    case DType::kU64:
      return onnx::TensorProto::UINT64;
    case DType::kBool:
      break;
  }
  return onnx::TensorProto::BOOL;
}

absl::StatusOr<TensorType> TypeOfProto(const onnx::TensorProto& proto) {
  const std::optional<DType> dtype = DTypeOfOnnx(proto.data_type());
  if (!dtype.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("tensor ", NameOf(proto), ": found element type ",
                     ElementTypeText(proto.data_type()),
                     "; expected numbers or bools, as 1 (FLOAT), 7 (INT64) or "
                     "9 (BOOL); save "
                     "the tensor as one of these"));
  }
  TensorType type{*dtype, Shape(proto.dims().begin(), proto.dims().end()), {}};
  PARTITA_RETURN_IF_ERROR(CheckType(type));
  return type;
}

absl::StatusOr<HostTensor> TensorOfProto(const onnx::TensorProto& proto) {
  PARTITA_ASSIGN_OR_RETURN(const TensorType type, TypeOfProto(proto));
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return BadTensor(proto, "external data", "a tensor that holds its data");
  }
  // A varint or float takes at least one byte in the file, so a tensor cannot
  // have many more elements than the file has bytes.
  if (type.num_elements() > StoredBytes(proto)) {
    return BadTensor(proto, absl::StrCat(StoredBytes(proto), " stored bytes"),
                     absl::StrCat("the data of ", type.ToString()));
  }
  HostTensor tensor(type);
  PARTITA_RETURN_IF_ERROR(FillTensor(proto, tensor));
  return tensor;
}

absl::StatusOr<HostTensor> ParseTensorFile(absl::string_view bytes,
                                           absl::string_view source) {
  onnx::TensorProto proto;
  if (bytes.size() > INT_MAX || !HasWholeFields(bytes) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, ": found bytes that are not a serialised tensor; expected one ",
        "TensorProto, as in the ONNX test data"));
  }
  absl::StatusOr<HostTensor> tensor = TensorOfProto(proto);
  if (tensor.ok()) return tensor;
  return absl::Status(tensor.status().code(),
                      absl::StrCat(source, ": ", tensor.status().message()));
}

absl::StatusOr<HostTensor> ReadTensorFile(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  return ParseTensorFile(
      absl::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                        file->bytes().size()),
      path);
}

}  // namespace partita
