// Reads and writes NumPy's format.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/npy.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr absl::string_view kSaveAgain = "save the array again by numpy.save";
// The bytes are those of NumPy, but not all of them.
constexpr absl::string_view kCopyAgain =
    "copy the file again, or save the array again by numpy.save";

struct Descr {
  DType dtype;
  absl::string_view text;
};
constexpr Descr kDescrs[] = {{DType::kF64, "<f8"},
                             {DType::kF32, "<f4"},
                             {DType::kF16, "<f2"},
                             {DType::kI64, "<i8"},
                             {DType::kI32, "<i4"},
                             {DType::kI16, "<i2"},
                             {DType::kI8, "|i1"},
                             {DType::kU8, "|u1"},
                             {DType::kU16, "<u2"},
                             {DType::kU32, "<u4"},
                             {DType::kU64, "<u8"},
                             {DType::kBool, "|b1"},
                             // NumPy's form of types that it does not know,
                             // such as bfloat16 of the package ml_dtypes.
                             {DType::kBF16, "<V2"},
                             {DType::kBF16, "|V2"}};

// The text after `'key':` in the header, a dictionary as Python prints it.
std::optional<absl::string_view> Field(absl::string_view header,
                                       absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  return absl::StripAsciiWhitespace(header.substr(at + key.size() + 3));
}

absl::StatusOr<Shape> ShapeOf(absl::string_view header,
                              absl::string_view source) {
  const std::optional<absl::string_view> text = Field(header, "shape");
  const size_t end = text.has_value() ? text->find(')') : 0;
  if (!text.has_value() || text->empty() || text->front() != '(' ||
      end == absl::string_view::npos) {
    return BadFile(source, "a header without shape", "'shape': (N, ...)",
                   kSaveAgain);
  }
  Shape shape;
  for (absl::string_view part :
       absl::StrSplit(text->substr(1, end - 1), ',', absl::SkipWhitespace())) {
    int64_t extent;
    if (!absl::SimpleAtoi(part, &extent)) {
      return BadFile(source, absl::StrCat("extent ", part), "an integer",
                     kSaveAgain);
    }
    shape.push_back(extent);
    if (shape.size() > kMaxRank) {
      return BadFile(source,
                     absl::StrCat("more than ", kMaxRank, " dimensions"),
                     absl::StrCat("at most ", kMaxRank),
                     "reshape the array before it is saved");
    }
  }
  return shape;
}

absl::StatusOr<DType> DTypeOf(absl::string_view header,
                              absl::string_view source) {
  const std::optional<absl::string_view> text = Field(header, "descr");
  if (text.has_value()) {
    for (const Descr& descr : kDescrs) {
      if (absl::StartsWith(*text, absl::StrCat("'", descr.text, "'"))) {
        return descr.dtype;
      }
    }
  }
  // Up to the closing quote.
  const absl::string_view shown = text.value_or("none");
  const std::string found =
      absl::StrCat("element type ", shown.substr(0, shown.find('\'', 1)),
                   absl::StartsWith(shown, "'") ? "'" : "");
  if (absl::StartsWith(shown, "'>")) {
    return BadFile(source, found, "little-endian numbers",
                   "save it with array.astype(array.dtype.newbyteorder('<'))");
  }
  return BadFile(source, found, "numbers or bools",
                 "save it with array.astype('float32') or another such type");
}

struct Header {
  absl::string_view text;
  size_t data = 0;  // of the elements
};

absl::StatusOr<Header> HeaderOf(absl::string_view bytes,
                                absl::string_view source) {
  if (bytes.size() < 12 || !absl::StartsWith(bytes, kMagic)) {
    return BadFile(source, "bytes that are not a whole .npy file",
                   "NumPy's format", "save an array by numpy.save");
  }
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[i]));
  };
  if (byte(6) < 1 || byte(6) > 3) {
    return BadFile(source, absl::StrCat("version ", byte(6)), "version 1 to 3",
                   kSaveAgain);
  }
  const bool wide = byte(6) >= 2;
  const size_t start = wide ? 12 : 10;
  const size_t length =
      wide ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24
           : byte(8) | byte(9) << 8;
  if (length > bytes.size() - start) {
    return BadFile(source, "a header cut short", "a whole .npy file",
                   kCopyAgain);
  }
  return Header{bytes.substr(start, length), start + length};
}

}  // namespace

absl::StatusOr<FileTensor> OpenNpy(const FileBytes& file) {
  const absl::string_view source = file.source;
  const absl::string_view bytes(
      reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  PARTITA_ASSIGN_OR_RETURN(const Header header, HeaderOf(bytes, source));
  TensorType type;
  PARTITA_ASSIGN_OR_RETURN(type.dtype, DTypeOf(header.text, source));
  PARTITA_ASSIGN_OR_RETURN(type.dims, ShapeOf(header.text, source));
  const std::optional<absl::string_view> order =
      Field(header.text, "fortran_order");
  if (!order.has_value() || !absl::StartsWith(*order, "False")) {
    return BadFile(source, "Fortran order", "C order",
                   "save numpy.ascontiguousarray(array)");
  }
  if (absl::Status status = CheckType(type); !status.ok()) {
    return AtPlace(source, status);
  }
  const int64_t available = static_cast<int64_t>(bytes.size() - header.data);
  if (type.num_bytes() != available) {
    return BadFile(source, absl::StrCat(available, " bytes of elements"),
                   absl::StrCat(type.num_bytes(), " for ", type.ToString()),
                   kCopyAgain);
  }
  return FileTensor{std::move(type), file.From(header.data)};
}

absl::StatusOr<HostTensor> ParseNpy(absl::string_view bytes,
                                    absl::string_view source) {
  PARTITA_ASSIGN_OR_RETURN(const FileTensor tensor,
                           OpenNpy(BorrowedBytes(bytes, source)));
  return tensor.Copy();
}

std::string NpyText(const HostTensor& tensor) {
  const auto* const row = std::find_if(
      std::begin(kDescrs), std::end(kDescrs),
      [&](const Descr& descr) { return descr.dtype == tensor.type().dtype; });
  std::string shape;
  for (int64_t extent : tensor.type().dims) {
    absl::StrAppend(&shape, extent, ",");
  }
  std::string header =
      absl::StrCat("{'descr': '", row->text, "', 'fortran_order': False, ",
                   "'shape': (", shape, "), }");
  // The elements start at a multiple of 64 bytes.
  while ((10 + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');
  std::string text(kMagic);
  text.append({'\1', '\0', static_cast<char>(header.size() & 0xff),
               static_cast<char>(header.size() >> 8)});
  text += header;
  const absl::Span<const std::byte> bytes = tensor.byte_span();
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text;
}

}  // namespace partita
