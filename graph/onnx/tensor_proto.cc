// Decoding TensorProto, with every size checked before it is believed.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/tensor_proto.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

absl::Status BadTensor(const onnx::TensorProto& proto, absl::string_view found,
                       absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor ", proto.name().empty() ? "(unnamed)" : proto.name(),
                   ": found ", found, "; expected ", expected));
}

// Elements that lie in a repeated field, one each.
template <typename Field>
absl::Status FromField(const onnx::TensorProto& proto, const Field& field,
                       HostTensor& tensor) {
  const int64_t wanted = tensor.type().num_elements();
  if (field.size() != wanted) {
    return BadTensor(proto, absl::StrCat(field.size(), " elements"),
                     absl::StrCat(wanted, " for ", tensor.type().ToString()));
  }
  VisitDType(tensor.type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
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

// How many elements the proto itself carries: the bound on what is allocated.
int64_t StoredBytes(const onnx::TensorProto& proto) {
  return static_cast<int64_t>(proto.ByteSizeLong());
}

struct External {
  std::string path;
  int64_t offset = 0;
  int64_t length = -1;
};

absl::StatusOr<External> ExternalOf(const onnx::TensorProto& proto) {
  External external;
  for (const auto& entry : proto.external_data()) {
    bool good = true;
    if (entry.key() == "location") external.path = entry.value();
    if (entry.key() == "offset") {
      good = absl::SimpleAtoi(entry.value(), &external.offset);
    }
    if (entry.key() == "length") {
      good = absl::SimpleAtoi(entry.value(), &external.length);
    }
    if (!good || external.offset < 0) {
      return BadTensor(
          proto, absl::StrCat("external ", entry.key(), " ", entry.value()),
          "a number of bytes");
    }
  }
  return external;
}

// The real path of a file inside `folder`: links are followed before the two
// are compared, so none leads out.
absl::StatusOr<std::string> InsideFolder(const onnx::TensorProto& proto,
                                         const std::string& folder,
                                         const std::string& location) {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(folder, error);
  if (error) {
    return BadTensor(proto, absl::StrCat("no folder ", folder),
                     "the model's folder");
  }
  const std::filesystem::path file =
      std::filesystem::canonical(root / location, error);
  if (error) {
    return BadTensor(proto, absl::StrCat("no file ", location),
                     "external data in the model's folder");
  }
  const auto [end, _] =
      std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end != root.end()) {
    return BadTensor(proto, absl::StrCat("external data at ", location),
                     "a file inside the model's folder");
  }
  return file.string();
}

absl::StatusOr<LiteralId> AddExternal(const onnx::TensorProto& proto,
                                      TensorType type,
                                      const std::string& folder,
                                      LiteralPool& literals) {
  if (folder.empty()) {
    return BadTensor(proto, "external data", "a model that holds its data");
  }
  PARTITA_ASSIGN_OR_RETURN(const External external, ExternalOf(proto));
  PARTITA_ASSIGN_OR_RETURN(const std::string path,
                           InsideFolder(proto, folder, external.path));
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const int64_t size = type.num_bytes();
  const int64_t available = static_cast<int64_t>(file->bytes().size());
  if (external.length >= 0 && external.length != size) {
    return BadTensor(proto, absl::StrCat(external.length, " external bytes"),
                     absl::StrCat(size, " for ", type.ToString()));
  }
  if (external.offset > available || size > available - external.offset) {
    return BadTensor(
        proto,
        absl::StrCat("bytes ", external.offset, "..+", size, " of ", path),
        absl::StrCat("a file that long; it has ", available));
  }
  const int alignment = BitsOf(type.dtype) / 8;
  if (external.offset % alignment != 0 || type.dtype == DType::kBool) {
    // Elements must be aligned, and bools 0 or 1, to be read in place.
    HostTensor copy(std::move(type));
    std::memcpy(copy.bytes(), file->bytes().data() + external.offset,
                static_cast<size_t>(size));
    NormalizeBools(copy);
    return literals.Add(std::move(copy));
  }
  return literals.AddMapped(std::move(type), std::move(file), external.offset);
}

}  // namespace

std::optional<DType> DTypeOfOnnx(int data_type) {
  switch (data_type) {
    case onnx::TensorProto::FLOAT:
      return DType::kF32;
    case onnx::TensorProto::UINT8:
      return DType::kU8;
    case onnx::TensorProto::INT8:
      return DType::kI8;
    case onnx::TensorProto::UINT16:
      return DType::kU16;
    case onnx::TensorProto::INT16:
      return DType::kI16;
    case onnx::TensorProto::INT32:
      return DType::kI32;
    case onnx::TensorProto::INT64:
      return DType::kI64;
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::DOUBLE:
      return DType::kF64;
    case onnx::TensorProto::UINT32:
      return DType::kU32;
    case onnx::TensorProto::UINT64:
      return DType::kU64;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBF16;
    default:
      return std::nullopt;
  }
}

absl::StatusOr<TensorType> TypeOfProto(const onnx::TensorProto& proto) {
  const std::optional<DType> dtype = DTypeOfOnnx(proto.data_type());
  if (!dtype.has_value()) {
    return absl::UnimplementedError(absl::StrCat(
        "tensor ", proto.name(), ": found element type ",
        onnx::TensorProto::DataType_Name(
            static_cast<onnx::TensorProto::DataType>(proto.data_type())),
        "; expected a number or bool"));
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
  // A varint or float takes at least one byte in the file, so a tensor that
  // claims many more elements than the file has bytes is a lie.
  if (type.num_elements() > StoredBytes(proto)) {
    return BadTensor(proto, absl::StrCat(StoredBytes(proto), " stored bytes"),
                     absl::StrCat("the data of ", type.ToString()));
  }
  HostTensor tensor(type);
  PARTITA_RETURN_IF_ERROR(FillTensor(proto, tensor));
  return tensor;
}

absl::StatusOr<LiteralId> AddProtoLiteral(const onnx::TensorProto& proto,
                                          const std::string& folder,
                                          LiteralPool& literals) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    PARTITA_ASSIGN_OR_RETURN(TensorType type, TypeOfProto(proto));
    return AddExternal(proto, std::move(type), folder, literals);
  }
  PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, TensorOfProto(proto));
  return literals.Add(std::move(tensor));
}

absl::StatusOr<HostTensor> ParseTensorFile(absl::string_view bytes,
                                           absl::string_view source) {
  onnx::TensorProto proto;
  if (bytes.size() > INT_MAX ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, ": found bytes that are no serialised tensor; expected one ",
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
