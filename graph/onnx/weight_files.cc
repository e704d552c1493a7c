// Finds the bytes of tensors, and maps their files.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/weight_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/model_skeleton.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/status_macros.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

namespace fs = std::filesystem;

struct External {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

absl::StatusOr<External> ExternalOf(const onnx::TensorProto& proto) {
  External external;
  for (const auto& entry : proto.external_data()) {
    bool good = true;
    if (entry.key() == "location") external.location = entry.value();
    if (entry.key() == "offset") {
      good = absl::SimpleAtoi(entry.value(), &external.offset);
    }
    if (entry.key() == "length") {
      good = absl::SimpleAtoi(entry.value(), &external.length.emplace());
    }
    if (!good || external.offset < 0 || external.length.value_or(0) < 0) {
      return BadTensor(
          proto, absl::StrCat("external ", entry.key(), " ", entry.value()),
          "a number of bytes");
    }
  }
  return external;
}

bool IsExternal(const onnx::TensorProto& proto) {
  return proto.data_location() == onnx::TensorProto::EXTERNAL;
}

HostTensor CopyOf(TensorType type, const std::byte* bytes) {
  HostTensor tensor(std::move(type));
  const size_t size = tensor.byte_span().size();
  if (size > 0) std::memcpy(tensor.bytes(), bytes, size);
  NormalizeBools(tensor);
  return tensor;
}

bool IsWithin(const fs::path& folder, const fs::path& path) {
  const auto [end, _] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return !folder.empty() && end == folder.end();
}

}  // namespace

WeightFiles::WeightFiles(std::shared_ptr<const MappedFile> model)
    : model_(std::move(model)),
      folder_(fs::absolute(model_->path()).parent_path().string()) {
  std::error_code error;
  const fs::path linked = fs::canonical(model_->path(), error);
  if (!error) linked_folder_ = linked.parent_path().string();
}

absl::StatusOr<LiteralId> WeightFiles::Add(const onnx::TensorProto& proto,
                                           LiteralPool& literals) {
  if (!IsExternal(proto) && !proto.has_raw_data()) {
    PARTITA_ASSIGN_OR_RETURN(HostTensor tensor, TensorOfProto(proto));
    return literals.Add(std::move(tensor));
  }
  PARTITA_ASSIGN_OR_RETURN(TensorType type, TypeOfProto(proto));
  PARTITA_ASSIGN_OR_RETURN(Place place, IsExternal(proto)
                                            ? ExternalPlace(proto, type)
                                            : RawPlace(proto, type));
  if (type.dtype == DType::kBool) {
    return literals.Add(
        CopyOf(std::move(type), place.file->bytes().data() + place.offset));
  }
  return literals.AddMapped(std::move(type), std::move(place.file),
                            place.offset);
}

absl::StatusOr<HostTensor> WeightFiles::Read(
    const onnx::TensorProto& proto) const {
  if (IsExternal(proto) || !proto.has_raw_data()) return TensorOfProto(proto);
  PARTITA_ASSIGN_OR_RETURN(TensorType type, TypeOfProto(proto));
  PARTITA_ASSIGN_OR_RETURN(const Place place, RawPlace(proto, type));
  return CopyOf(std::move(type), model_->bytes().data() + place.offset);
}

absl::StatusOr<WeightFiles::Place> WeightFiles::RawPlace(
    const onnx::TensorProto& proto, const TensorType& type) const {
  const std::optional<RawRange> range = DecodeRawRange(proto.raw_data());
  const uint64_t available = model_->bytes().size();
  if (!range.has_value() || range->offset > available ||
      range->size > available - range->offset) {
    return absl::InternalError(
        absl::StrCat("bug: tensor ", proto.name(),
                     ": found raw data that the model's skeleton kept"));
  }
  if (range->size != static_cast<uint64_t>(type.num_bytes())) {
    return BadTensor(proto, absl::StrCat(range->size, " bytes"),
                     absl::StrCat(type.num_bytes(), " for ", type.ToString()));
  }
  return Place{model_, static_cast<int64_t>(range->offset)};
}

absl::StatusOr<WeightFiles::Place> WeightFiles::ExternalPlace(
    const onnx::TensorProto& proto, const TensorType& type) {
  PARTITA_ASSIGN_OR_RETURN(const External external, ExternalOf(proto));
  PARTITA_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           FileAt(proto, external.location));
  const int64_t size = type.num_bytes();
  const int64_t available = static_cast<int64_t>(file->bytes().size());
  if (external.length.value_or(size) != size) {
    return BadTensor(proto, absl::StrCat(*external.length, " external bytes"),
                     absl::StrCat(size, " for ", type.ToString()));
  }
  if (external.offset > available || size > available - external.offset) {
    return BadTensor(proto,
                     absl::StrCat("bytes ", external.offset, "..+", size,
                                  " of ", file->path()),
                     absl::StrCat("a file that long; it has ", available));
  }
  return Place{std::move(file), external.offset};
}

// Links are resolved before paths are compared, so none leads out of the
// folder. If the model is a link, as in the cache of Hugging Face, its data may
// be beside the file that it leads to.
absl::StatusOr<std::shared_ptr<const MappedFile>> WeightFiles::FileAt(
    const onnx::TensorProto& proto, const std::string& location) {
  std::error_code error;
  const fs::path root = fs::canonical(folder_, error);
  if (location.empty() || absl::StrContains(location, '\0')) {
    return BadTensor(proto, "external data without a location",
                     "the name of a file in the model's folder");
  }
  if (error) {
    return BadTensor(proto, absl::StrCat("no folder ", folder_),
                     "the model's folder");
  }
  const fs::path path = fs::canonical(root / location, error);
  if (error) {
    return BadTensor(proto, absl::StrCat("no file ", location),
                     "external data in the model's folder");
  }
  if (!IsWithin(root, path) && !IsWithin(linked_folder_, path)) {
    return BadTensor(
        proto,
        absl::StrCat("external data at ", location,
                     path == (root / location).lexically_normal()
                         ? ""
                         : absl::StrCat(", which is ", path.string())),
        "a file inside the model's folder, or beside the file that a link to "
        "the model leads to; copy it there");
  }
  std::shared_ptr<const MappedFile>& file = external_[path.string()];
  if (file == nullptr) {
    PARTITA_ASSIGN_OR_RETURN(file, MappedFile::Open(path.string()));
  }
  return file;
}

}  // namespace partita
