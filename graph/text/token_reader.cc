// Recursive descent over the smaller parts of the textual IR.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/token_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

using Kind = Token::Kind;

std::string Describe(const Token& token) {
  if (token.kind == Kind::kNewline) return "the end of the line";
  if (token.kind == Kind::kEnd) return "the end of the text";
  if (token.kind == Kind::kBad && token.text[0] == '"') {
    return "a string that does not end";
  }
  if (token.kind == Kind::kBad && !absl::ascii_isprint(token.text[0])) {
    return absl::StrCat("byte 0x",
                        absl::Hex(static_cast<unsigned char>(token.text[0])));
  }
  return std::string(token.text.substr(0, 60));
}

bool AllDigits(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(c); });
}

}  // namespace

std::optional<std::string> NameOf(const Token& token) {
  const absl::string_view name = token.text.substr(1);
  if (name[0] == '"') return Unquoted(name);
  if (token.kind == Kind::kValue && AllDigits(name)) return "";
  if (!IsBareName(name)) return std::nullopt;
  return std::string(name);
}

const Token& TokenReader::Take() {
  const Token& token = tokens_[at_];
  if (token.kind != Kind::kEnd) ++at_;
  return token;
}

bool TokenReader::TryTake(char punct) {
  if (!peek().is(punct)) return false;
  Take();
  return true;
}

bool TokenReader::TryTake(absl::string_view word) {
  if (!peek().is(word)) return false;
  Take();
  return true;
}

bool TokenReader::TryTake(Kind kind) {
  if (peek().kind != kind) return false;
  Take();
  return true;
}

void TokenReader::SkipNewlines() {
  while (TryTake(Kind::kNewline)) {
  }
}

bool TokenReader::ContinuesWith(absl::string_view word) {
  if (peek().kind == Kind::kNewline && tokens_[at_ + 1].is(word)) Take();
  return peek().is(word);
}

// The opening brace of a body ends its line, and the closing brace starts one.
// A list continues after a line that ends with a comma or parenthesis.
void TokenReader::SkipLine() {
  int depth = 0;
  while (!at_end()) {
    const Token& token = Take();
    if (token.is('{') && peek().kind == Kind::kNewline) ++depth;
    if (token.kind != Kind::kNewline) continue;
    const bool continues =
        at_ > 1 && (tokens_[at_ - 2].is(',') || tokens_[at_ - 2].is('('));
    if (depth == 0 && !continues) return;
    if (depth > 0 && peek().is('}')) --depth;
  }
}

bool TokenReader::Report(const Token& where, absl::string_view message,
                         absl::string_view hint) {
  const size_t length = where.kind == Kind::kNewline ? 0 : where.text.size();
  diagnostics_->Report(where.text.substr(0, length), message, hint);
  return false;
}

bool TokenReader::Fail(absl::string_view expected) {
  return Report(peek(), absl::StrCat("found ", Describe(peek()), "; expected ",
                                     expected));
}

bool TokenReader::Expect(char punct) {
  if (TryTake(punct)) return true;
  return Fail(absl::string_view(&punct, 1));
}

bool TokenReader::Expect(Kind kind, absl::string_view expected) {
  return TryTake(kind) || Fail(expected);
}

bool TokenReader::ExpectLineEnd() {
  return Expect(Kind::kNewline, "the end of the line");
}

std::optional<std::string> TokenReader::ReadName(Kind kind,
                                                 absl::string_view expected) {
  if (peek().kind != kind) {
    Fail(expected);
    return std::nullopt;
  }
  std::optional<std::string> name = NameOf(peek());
  if (!name.has_value()) {
    Report(peek(), "found no name that can be used",
           "expected a letter, then letters, digits, _ . and /, or a string");
    return std::nullopt;
  }
  Take();
  return name;
}

std::optional<std::string> TokenReader::ReadString() {
  if (peek().kind != Kind::kString) {
    Fail("a string");
    return std::nullopt;
  }
  std::optional<std::string> text = Unquoted(peek().text);
  if (!text.has_value()) {
    Report(peek(), "found an unknown escape in a string",
           "known here: \\n, \\t, \\\", \\\\, \\x00");
    return std::nullopt;
  }
  Take();
  return text;
}

std::optional<std::string> TokenReader::ReadWordOrString(
    absl::string_view expected) {
  if (peek().kind == Kind::kString) return ReadString();
  if (peek().kind != Kind::kWord) {
    Fail(expected);
    return std::nullopt;
  }
  return std::string(Take().text);
}

std::optional<int64_t> TokenReader::ReadInt() {
  int64_t value = 0;
  if (peek().kind != Kind::kNumber || !ParseInt64(peek().text, value)) {
    Fail("an integer of 64 bits");
    return std::nullopt;
  }
  Take();
  return value;
}

// A number may be a word: inf, nan.
template <typename Value>
std::optional<Value> TokenReader::ReadAs(bool (*parse)(absl::string_view,
                                                       Value&)) {
  Value value{};
  const bool may_be =
      peek().kind == Kind::kNumber || peek().kind == Kind::kWord;
  if (!may_be || !parse(peek().text, value)) {
    Fail("a number");
    return std::nullopt;
  }
  Take();
  return value;
}

std::optional<double> TokenReader::ReadDouble() {
  return ReadAs<double>(ParseDouble);
}

std::optional<Number> TokenReader::ReadNumber() {
  return ReadAs<Number>(ParseNumber);
}

std::optional<bool> TokenReader::ReadBool() {
  if (TryTake("true")) return true;
  if (TryTake("false")) return false;
  Fail("true or false");
  return std::nullopt;
}

std::optional<DType> TokenReader::ReadDType() {
  std::optional<DType> dtype;
  if (peek().kind == Kind::kWord) dtype = ParseDType(peek().text);
  if (!dtype.has_value()) {
    Fail(
        "a dtype: f64, f32, f16, bf16, i64, i32, i16, i8, u8, u16, u32, u64 "
        "or bool");
    return std::nullopt;
  }
  Take();
  return dtype;
}

std::optional<TensorType> TokenReader::ReadType() {
  const Token first = peek();
  TensorType type;
  const std::optional<DType> dtype = ReadDType();
  if (!dtype.has_value()) return std::nullopt;
  type.dtype = *dtype;
  const bool read = ReadList('[', ']', [&] {
    const std::optional<int64_t> extent = ReadInt();
    if (!extent.has_value()) return false;
    if (type.rank() == kMaxRank) {
      return Report(first, absl::StrCat("found more than ", kMaxRank,
                                        " dimensions; expected fewer"));
    }
    type.dims.push_back(*extent);
    return true;
  });
  if (!read || !ReadLayout(type)) return std::nullopt;
  if (absl::Status status = CheckType(type); !status.ok()) {
    Report(first, absl::string_view(status.message()));
    return std::nullopt;
  }
  return type;
}

// A layout follows its type without a space; a body does not.
bool TokenReader::ReadLayout(TensorType& type) {
  const absl::string_view close = tokens_[at_ - 1].text;
  const Token& letters = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  if (!peek().is('{') || close.data() + 1 != peek().text.data() ||
      letters.kind != Kind::kWord) {
    return true;
  }
  Take();
  absl::StatusOr<Layout> layout = ParseLayout(letters.text, type.rank());
  if (!layout.ok()) {
    return Report(letters, absl::string_view(layout.status().message()));
  }
  type.layout = *std::move(layout);
  Take();
  return Expect('}');
}

bool TokenReader::ReadList(char open, char close,
                           absl::FunctionRef<bool()> item) {
  if (!Expect(open)) return false;
  SkipNewlines();
  if (TryTake(close)) return true;
  while (true) {
    if (!item()) return false;
    SkipNewlines();
    if (TryTake(close)) return true;
    if (!TryTake(',')) {
      return Fail(absl::StrCat(", or ", absl::string_view(&close, 1)));
    }
    SkipNewlines();
  }
}

}  // namespace partita
