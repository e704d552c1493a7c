// One function for each format.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/recognize_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "runtime/plan/plan_file.h"

namespace partita {
namespace {

// How much of a file a format is looked for in.
constexpr size_t kHead = 4096;

constexpr std::pair<absl::string_view, FileKind> kSignatures[] = {
    {"\x93NUMPY", FileKind::kNpy},
    {"\x1f\x8b", FileKind::kGzip},
    {"\x89HDF\r\n", FileKind::kHdf5},
    {"version https://git-lfs", FileKind::kLfsPointer},
};

uint8_t ByteAt(absl::string_view bytes, size_t i) {
  return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0;
}

// A varint of the Protocol Buffers; false if it does not end.
bool TakeVarint(absl::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const uint8_t byte = ByteAt(bytes, 0);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Exporters write the fields of a ModelProto in order: the version of the
// format (1), then one of those that are not the field 1 or 2 of a TensorProto.
bool LooksLikeOnnxModel(absl::string_view bytes) {
  constexpr uint8_t kNextFields[] = {
      0x12,                    // producer_name
      0x1a,                    // producer_version
      0x22, 0x28, 0x32,        // domain, model_version, doc_string
      0x3a,                    // graph
      0x42, 0x72, 0xa2, 0xca,  // opset_import, metadata, training, functions
  };
  return ByteAt(bytes, 0) == 0x08 && ByteAt(bytes, 1) > 0 &&
         ByteAt(bytes, 1) < 32 && bytes.size() > 2 &&
         absl::c_linear_search(kNextFields, ByteAt(bytes, 2));
}

// The dimensions of a TensorProto (1), then its element type (2).
bool LooksLikeOnnxTensor(absl::string_view bytes) {
  constexpr uint64_t kMostTypes = 64;
  uint64_t value = 0;
  while (absl::ConsumePrefix(&bytes, "\x08")) {
    if (!TakeVarint(bytes, value)) return false;
  }
  if (absl::ConsumePrefix(&bytes, "\x0a")) {  // packed
    if (!TakeVarint(bytes, value) || value > bytes.size()) return false;
    bytes.remove_prefix(value);
  }
  return absl::ConsumePrefix(&bytes, "\x10") && TakeVarint(bytes, value) &&
         value > 0 && value < kMostTypes;
}

// Two zeros, an element type and the number of dimensions.
bool LooksLikeIdx(absl::string_view bytes) {
  constexpr uint8_t kTypes[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
  return absl::StartsWith(bytes, absl::string_view("\0\0", 2)) &&
         absl::c_linear_search(kTypes, ByteAt(bytes, 2)) &&
         ByteAt(bytes, 3) > 0 && ByteAt(bytes, 3) < 32;
}

// The size of the header, then the header, which is JSON.
bool LooksLikeSafetensors(absl::string_view bytes) {
  constexpr uint64_t kMostHeader = 100'000'000;  // of the format
  uint64_t header = 0;
  for (size_t i = 0; i < 8; ++i) {
    header |= static_cast<uint64_t>(ByteAt(bytes, i)) << (8 * i);
  }
  return header > 1 && header <= kMostHeader && ByteAt(bytes, 8) == '{';
}

// The mark and number of a protocol of Python.
bool LooksLikePickle(absl::string_view bytes) {
  return ByteAt(bytes, 0) == 0x80 && ByteAt(bytes, 1) >= 2 &&
         ByteAt(bytes, 1) <= 5;
}

FileKind KindOfZip(absl::string_view head) {
  // torch.save names the first file of its archive NAME/data.pkl.
  return absl::StrContains(head, "data.pkl") ? FileKind::kPyTorch
                                             : FileKind::kNpz;
}

FileKind KindOfJson(absl::string_view head) {
  constexpr std::pair<absl::string_view, FileKind> kKeys[] = {
      {"\"traceEvents\"", FileKind::kTrace},
      {"\"checksum\"", FileKind::kProfile},
      {"\"devices\"", FileKind::kMachine},
  };
  for (const auto& [key, kind] : kKeys) {
    if (absl::StrContains(head, key)) return kind;
  }
  return FileKind::kJson;
}

bool IsText(absl::string_view head) {
  return absl::c_all_of(head, [](char c) {
    return !absl::ascii_iscntrl(c) || absl::ascii_isspace(c);
  });
}

// The first word, if what is not a comment begins with one.
absl::string_view FirstWord(absl::string_view text) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  text = absl::StripLeadingAsciiWhitespace(text);
  while (absl::StartsWith(text, "//")) {
    const size_t end = text.find('\n');
    if (end == text.npos) return "";
    text = absl::StripLeadingAsciiWhitespace(text.substr(end));
  }
  const auto end =
      absl::c_find_if_not(text, [](char c) { return absl::ascii_isalpha(c); });
  return text.substr(0, end - text.begin());
}

// A plan's text begins with the declarations of its graphs.
FileKind KindOfText(absl::string_view text) {
  const absl::string_view first = FirstWord(text);
  const bool is_graph = first == "graph" || first == "variable";
  if (!is_graph && first != "plan") return FileKind::kText;
  const bool has_plan =
      absl::StartsWith(text, "plan @") || absl::StrContains(text, "\nplan @");
  if (has_plan) return FileKind::kPlanText;
  return is_graph ? FileKind::kGraphText : FileKind::kText;
}

// For damaged files: of `kind`, unless their name says more.
FileKind KindOfName(absl::string_view path, FileKind kind) {
  struct Ending {
    absl::string_view text;
    FileKind damaged;
    FileKind kind;
  };
  constexpr Ending kEndings[] = {
      {".plan", FileKind::kUnknown, FileKind::kPlan},
      {".onnx", FileKind::kUnknown, FileKind::kOnnxModel},
      {".npy", FileKind::kUnknown, FileKind::kNpy},
      {".pb", FileKind::kUnknown, FileKind::kOnnxTensor},
      {".graph", FileKind::kUnknown, FileKind::kGraphText},
      {".plan", FileKind::kText, FileKind::kPlan},
      {".graph", FileKind::kText, FileKind::kGraphText},
  };
  for (const Ending& ending : kEndings) {
    if (ending.damaged == kind && absl::EndsWith(path, ending.text)) {
      return ending.kind;
    }
  }
  return kind;
}

}  // namespace

FileKind KindOfBytes(absl::string_view bytes) {
  const absl::string_view head = bytes.substr(0, kHead);
  if (LooksLikePlanFile(absl::MakeConstSpan(
          reinterpret_cast<const std::byte*>(head.data()), head.size()))) {
    return FileKind::kPlan;
  }
  // First, as the size of its header may look like another signature.
  if (LooksLikeSafetensors(head)) return FileKind::kSafetensors;
  for (const auto& [signature, kind] : kSignatures) {
    if (absl::StartsWith(head, signature)) return kind;
  }
  if (absl::StartsWith(head, "PK\x03\x04")) return KindOfZip(head);
  if (LooksLikePickle(head)) return FileKind::kPyTorch;
  if (LooksLikeIdx(head)) return FileKind::kIdx;
  if (LooksLikeOnnxModel(head)) return FileKind::kOnnxModel;
  if (LooksLikeOnnxTensor(head)) return FileKind::kOnnxTensor;
  if (head.empty() || !IsText(head)) return FileKind::kUnknown;
  absl::string_view text = head;
  absl::ConsumePrefix(&text, kByteOrderMark);
  text = absl::StripLeadingAsciiWhitespace(text);
  if (absl::StartsWith(text, "{") || absl::StartsWith(text, "[")) {
    return KindOfJson(head);
  }
  return KindOfText(bytes);
}

FileKind KindOfFile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return FileKind::kUnknown;
  const absl::Span<const std::byte> bytes = (*file)->bytes();
  return KindOfName(
      path,
      KindOfBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

}  // namespace partita
