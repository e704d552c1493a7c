// Skips through JSON without reading it.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/json_places.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr absl::string_view kSpace = " \t\r\n";
constexpr absl::string_view kScalarEnd = ",]} \t\r\n";
// A mark of the encoding, which parsers skip.
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

class Skipper {
 public:
  explicit Skipper(absl::string_view text) : text_(text) {
    if (absl::StartsWith(text, kByteOrderMark)) at_ = kByteOrderMark.size();
    SkipSpace();
  }

  bool at_end() const { return at_ >= text_.size(); }
  size_t at() const { return at_; }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  void SkipSpace() {
    at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
  }
  // One character, and the space after it.
  void SkipMark() {
    ++at_;
    SkipSpace();
  }

  absl::string_view TakeString() {
    const size_t start = at_++;
    while (!at_end() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(start, at_ - start);
  }

  absl::string_view TakeValue() {
    const size_t start = at_;
    int depth = 0;
    do {
      TakeToken(depth);
    } while (depth > 0 && !at_end());
    return text_.substr(start, at_ - start);
  }

  // A string, a bracket, or what is between them.
  void TakeToken(int& depth) {
    const char c = peek();
    if (c == '"') {
      TakeString();
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      --depth;
      ++at_;
    } else if (c == ':' || absl::StrContains(kScalarEnd, c)) {
      ++at_;
    } else {
      at_ = std::min(text_.find_first_of(kScalarEnd, at_), text_.size());
    }
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

bool IsKey(absl::string_view quoted, absl::string_view key) {
  if (!absl::StrContains(quoted, '\\')) {
    return quoted.substr(1, quoted.size() - 2) == key;
  }
  const auto read = nlohmann::json::parse(quoted, nullptr, false);
  return read.is_string() && read.get_ref<const std::string&>() == key;
}

}  // namespace

std::string LineAndColumn(absl::string_view text, size_t offset) {
  const absl::string_view before = text.substr(0, offset);
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // 0 if there is none
  return absl::StrCat(line, ":", before.size() - line_start + 1);
}

absl::string_view JsonValueIn(absl::string_view text) {
  return Skipper(text).TakeValue();
}

std::optional<JsonMember> FindJsonMember(absl::string_view object,
                                         absl::string_view key) {
  Skipper skipper(object);
  skipper.SkipMark();  // the brace
  while (skipper.peek() == '"') {
    JsonMember member;
    member.key = skipper.TakeString();
    skipper.SkipSpace();
    skipper.SkipMark();  // the colon
    member.value = skipper.TakeValue();
    if (IsKey(member.key, key)) return member;
    skipper.SkipSpace();
    if (skipper.peek() == ',') skipper.SkipMark();
  }
  return std::nullopt;
}

std::vector<absl::string_view> JsonEntries(absl::string_view list) {
  std::vector<absl::string_view> entries;
  Skipper skipper(list);
  skipper.SkipMark();  // the bracket
  while (!skipper.at_end() && skipper.peek() != ']') {
    entries.push_back(skipper.TakeValue());
    skipper.SkipSpace();
    if (skipper.peek() == ',') skipper.SkipMark();
  }
  return entries;
}

size_t OffsetOfKey(absl::string_view text, size_t index) {
  Skipper skipper(text);
  int depth = 0;
  size_t keys = 0;
  while (!skipper.at_end()) {
    const size_t start = skipper.at();
    const bool is_string = skipper.peek() == '"';
    skipper.TakeToken(depth);
    skipper.SkipSpace();
    if (is_string && skipper.peek() == ':' && keys++ == index) return start;
  }
  return text.size();
}

size_t OffsetOfDepth(absl::string_view text, size_t depth) {
  Skipper skipper(text);
  int open = 0;
  while (!skipper.at_end()) {
    const size_t start = skipper.at();
    skipper.TakeToken(open);
    if (open > static_cast<int>(depth)) return start;
  }
  return text.size();
}

}  // namespace partita
