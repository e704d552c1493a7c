// Reads the header of an IDX file, then its elements.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/idx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/inflate.h"

namespace partita {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr size_t kExtentBytes = 4;
constexpr absl::string_view kFetchAgain =
    "the file was cut short; fetch it again";

std::optional<DType> DTypeOfCode(unsigned code) {
  switch (code) {
    case 0x08:
      return DType::kU8;
    case 0x09:
      return DType::kI8;
    case 0x0b:
      return DType::kI16;
    case 0x0c:
      return DType::kI32;
    case 0x0d:
      return DType::kF32;
    case 0x0e:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

// The type with the right rank; its extents follow later in the file.
absl::StatusOr<TensorType> ParseMagic(absl::Span<const std::byte> magic,
                                      absl::string_view source) {
  const auto byte = [&](size_t i) {
    return std::to_integer<unsigned>(magic[i]);
  };
  const std::optional<DType> dtype = DTypeOfCode(byte(2));
  if (byte(0) != 0 || byte(1) != 0 || !dtype.has_value()) {
    return BadFile(
        source,
        absl::StrCat("first bytes ", absl::Hex(byte(0), absl::kZeroPad2), " ",
                     absl::Hex(byte(1), absl::kZeroPad2), " ",
                     absl::Hex(byte(2), absl::kZeroPad2)),
        "00 00 and an element type (08, 09, 0b, 0c, 0d or 0e) of IDX");
  }
  if (byte(3) == 0 || byte(3) > kMaxRank) {
    return BadFile(source, absl::StrCat("rank ", byte(3)),
                   absl::StrCat("1 to ", kMaxRank));
  }
  TensorType type;
  type.dtype = *dtype;
  type.dims.resize(byte(3));
  return type;
}

absl::Status ParseExtents(absl::Span<const std::byte> bytes,
                          absl::string_view source, TensorType& type) {
  for (size_t d = 0; d < type.dims.size(); ++d) {
    uint32_t extent = 0;
    for (std::byte b : bytes.subspan(d * kExtentBytes, kExtentBytes)) {
      extent = extent << 8 | std::to_integer<uint32_t>(b);
    }
    type.dims[d] = extent;
  }
  const absl::Status status = CheckType(type);
  return status.ok() ? status : AtPlace(source, status);
}

// Converts to the host's byte order.
void SwapElements(HostTensor& tensor) {
  const int64_t size = BitsOf(tensor.type().dtype) / 8;
  if (size == 1 || std::endian::native == std::endian::big) return;
  std::byte* at = tensor.bytes();
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i, at += size) {
    std::reverse(at, at + size);
  }
}

FileTensor Owned(HostTensor tensor, const std::string& source) {
  auto owner = std::make_shared<const HostTensor>(std::move(tensor));
  const absl::Span<const std::byte> bytes = owner->byte_span();
  return {owner->type(), {source, bytes, owner}};
}

absl::StatusOr<FileTensor> OpenPlain(const FileBytes& file) {
  const size_t size = file.bytes.size();
  const auto cut_short = [&](size_t expected) {
    return BadFile(file.source, absl::StrCat(size, " bytes"),
                   absl::StrCat("at least ", expected, " of an IDX file"),
                   kFetchAgain);
  };
  if (size < kMagicBytes) return cut_short(kMagicBytes);
  PARTITA_ASSIGN_OR_RETURN(
      TensorType type, ParseMagic(file.bytes.first(kMagicBytes), file.source));
  const size_t head = kMagicBytes + kExtentBytes * type.dims.size();
  if (size < head) return cut_short(head);
  PARTITA_RETURN_IF_ERROR(
      ParseExtents(file.bytes.subspan(kMagicBytes), file.source, type));
  const FileBytes elements = file.From(head);
  const int64_t available = static_cast<int64_t>(elements.bytes.size());
  if (available != type.num_bytes()) {
    return BadFile(file.source, absl::StrCat(available, " bytes of elements"),
                   absl::StrCat(type.num_bytes(), " for ", type.ToString()),
                   available < type.num_bytes() ? kFetchAgain
                                                : "it is damaged; fetch it "
                                                  "again");
  }
  if (BitsOf(type.dtype) == 8) return FileTensor{std::move(type), elements};
  HostTensor swapped = FileTensor{std::move(type), elements}.Copy();
  SwapElements(swapped);
  return Owned(std::move(swapped), file.source);
}

absl::StatusOr<FileTensor> OpenGzip(const FileBytes& file) {
  Inflater inflater(Inflater::Format::kGzip, file.bytes, file.source);
  std::array<std::byte, kMagicBytes> magic;
  PARTITA_RETURN_IF_ERROR(inflater.Read(absl::MakeSpan(magic)));
  PARTITA_ASSIGN_OR_RETURN(TensorType type, ParseMagic(magic, file.source));
  std::vector<std::byte> extents(kExtentBytes * type.dims.size());
  PARTITA_RETURN_IF_ERROR(inflater.Read(absl::MakeSpan(extents)));
  PARTITA_RETURN_IF_ERROR(ParseExtents(extents, file.source, type));
  const int64_t most = MostUnpackedBytes(file.bytes.size());
  if (type.num_bytes() > most) {
    return BadFile(
        file.source,
        absl::StrCat(file.bytes.size(), " packed bytes for ", type.ToString()),
        absl::StrCat("elements of at most ", most, " bytes"), kFetchAgain);
  }
  HostTensor tensor(std::move(type));
  PARTITA_RETURN_IF_ERROR(inflater.Read(absl::MakeSpan(
      tensor.bytes(), static_cast<size_t>(tensor.type().num_bytes()))));
  PARTITA_RETURN_IF_ERROR(inflater.ExpectEnd());
  SwapElements(tensor);
  return Owned(std::move(tensor), file.source);
}

bool IsGzip(absl::Span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} &&
         bytes[1] == std::byte{0x8b};
}

}  // namespace

absl::StatusOr<FileTensor> OpenIdx(const FileBytes& file) {
  return IsGzip(file.bytes) ? OpenGzip(file) : OpenPlain(file);
}

}  // namespace partita
