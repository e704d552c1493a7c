// Numbers characters, and converts text to numbers and back.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/vocabulary.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/status_macros.h"
#include "graph/utf8.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

using Unit = Vocabulary::Unit;

constexpr absl::string_view kBytesWord = "bytes";
constexpr absl::string_view kCharactersWord = "characters";

// `file:line:column` of byte `at`.
std::string PlaceOf(absl::string_view text, size_t at,
                    absl::string_view source) {
  const absl::string_view before = text.substr(0, at);
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t start = newline == absl::string_view::npos ? 0 : newline + 1;
  return absl::StrCat(source, ":", line, ":", at - start + 1);
}

// Calls `visit(code, at)` for each unit until it returns an error.
template <typename Visitor>
absl::Status ForEachUnit(absl::string_view text, Unit unit,
                         absl::string_view source, const Visitor& visit) {
  absl::string_view rest = text;
  while (!rest.empty()) {
    const size_t at = text.size() - rest.size();
    std::optional<uint32_t> code;
    if (unit == Unit::kBytes) {
      code = static_cast<unsigned char>(rest[0]);
      rest.remove_prefix(1);
    } else {
      code = TakeCodePoint(rest);
    }
    if (!code.has_value()) {
      return BadFile(
          PlaceOf(text, at, source),
          absl::StrCat("byte \"", absl::CHexEscape(rest.substr(0, 1)),
                       "\", which is not UTF-8"),
          "a text in UTF-8", "convert it, as iconv does");
    }
    PARTITA_RETURN_IF_ERROR(visit(*code, at));
  }
  return absl::OkStatus();
}

std::string UnitText(uint32_t code, Unit unit) {
  std::string text;
  if (unit == Unit::kBytes) {
    text.push_back(static_cast<char>(code));
  } else {
    AppendCodePoint(code, text);
  }
  return text;
}

}  // namespace

Vocabulary::Vocabulary(Unit unit, std::vector<uint32_t> codes)
    : unit_(unit), codes_(std::move(codes)) {
  for (size_t i = 0; i < codes_.size(); ++i) {
    tokens_[codes_[i]] = static_cast<int32_t>(i);
  }
}

absl::StatusOr<Vocabulary> Vocabulary::OfText(absl::string_view text, Unit unit,
                                              absl::string_view source) {
  absl::flat_hash_set<uint32_t> codes;
  PARTITA_RETURN_IF_ERROR(
      ForEachUnit(text, unit, source, [&](uint32_t code, size_t) {
        codes.insert(code);
        return absl::OkStatus();
      }));
  std::vector<uint32_t> sorted(codes.begin(), codes.end());
  std::sort(sorted.begin(), sorted.end());
  return Vocabulary(unit, std::move(sorted));
}

absl::StatusOr<Vocabulary> Vocabulary::Parse(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  const bool bytes = words[0] == kBytesWord;
  if (!bytes && words[0] != kCharactersWord) {
    return BadFile("vocabulary", absl::StrCat("\"", words[0], "\" first"),
                   "bytes or characters");
  }
  std::vector<uint32_t> codes;
  for (size_t i = 1; i < words.size(); ++i) {
    uint32_t code;
    const bool good = absl::SimpleHexAtoi(words[i], &code) &&
                      (bytes ? code <= 0xff : IsCodePoint(code)) &&
                      (codes.empty() || code > codes.back());
    if (!good) {
      return BadFile("vocabulary", absl::StrCat("code \"", words[i], "\""),
                     "hexadecimal codes in ascending order");
    }
    codes.push_back(code);
  }
  return Vocabulary(bytes ? Unit::kBytes : Unit::kCharacters, std::move(codes));
}

std::string Vocabulary::ToString() const {
  std::string text(unit_ == Unit::kBytes ? kBytesWord : kCharactersWord);
  for (uint32_t code : codes_) absl::StrAppend(&text, " ", absl::Hex(code));
  return text;
}

absl::StatusOr<std::vector<int32_t>> Vocabulary::Encode(
    absl::string_view text, absl::string_view source) const {
  std::vector<int32_t> tokens;
  PARTITA_RETURN_IF_ERROR(
      ForEachUnit(text, unit_, source, [&](uint32_t code, size_t at) {
        const auto found = tokens_.find(code);
        if (found == tokens_.end()) {
          return BadFile(
              PlaceOf(text, at, source),
              absl::StrCat("\"", absl::CHexEscape(UnitText(code, unit_)), "\""),
              absl::StrCat("one of the ", size(),
                           unit_ == Unit::kBytes ? " bytes" : " characters",
                           " that the model was trained with"));
        }
        tokens.push_back(found->second);
        return absl::OkStatus();
      }));
  return tokens;
}

std::string Vocabulary::Decode(absl::Span<const int32_t> tokens) const {
  std::string text;
  for (int32_t token : tokens) {
    if (token < 0 || token >= size()) continue;
    text += UnitText(codes_[token], unit_);
  }
  return text;
}

}  // namespace partita
