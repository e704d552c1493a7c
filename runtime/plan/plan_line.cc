// Splits lines of plan text, and reports their faults.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_line.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "graph/text/number_text.h"

namespace partita {
namespace {

bool IsWordByte(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == ':' ||
         c == '+' || c == '-';
}

bool IsSigil(char c) {
  return c == '!' || c == '%' || c == '@' || c == '#' || c == '$';
}

bool StartsArrow(absl::string_view text, size_t at) {
  return text.substr(at, 2) == "->";
}

bool StartsComment(absl::string_view text, size_t at) {
  return text.substr(at, 2) == "//";
}

// One past the bare name that starts at `at`.
size_t EndOfName(absl::string_view text, size_t at, bool slashes) {
  while (at < text.size() && !StartsArrow(text, at) &&
         !StartsComment(text, at) &&
         (IsWordByte(text[at]) || (slashes && text[at] == '/'))) {
    ++at;
  }
  return at;
}

bool IsBare(absl::string_view name, bool slashes) {
  return !name.empty() && EndOfName(name, 0, slashes) == name.size();
}

}  // namespace

std::string SpellName(absl::string_view name) {
  return IsBare(name, false) ? std::string(name) : Quoted(name);
}

std::string SpellSigilName(char sigil, absl::string_view name) {
  return absl::StrCat(std::string(1, sigil),
                      IsBare(name, true) ? std::string(name) : Quoted(name));
}

PlanLine::PlanLine(absl::string_view text, Diagnostics& faults)
    : text_(text), faults_(faults) {
  Split();
}

void PlanLine::Split() {
  size_t at = 0;
  while (at < text_.size() && ok_) {
    if (absl::ascii_isspace(text_[at])) {
      ++at;
    } else if (StartsComment(text_, at)) {
      return;
    } else if (!SplitOne(at)) {
      return;
    }
  }
}

bool PlanLine::SplitOne(size_t& at) {
  const size_t start = at;
  const char first = text_[at];
  const absl::string_view mark =
      text_.substr(start, StartsArrow(text_, at) ? 2 : 1);
  Token token{Token::Kind::kMark, mark, std::string(mark)};
  if (StartsArrow(text_, at)) {
    at += 2;
  } else if (IsWordByte(first)) {
    token.kind = Token::Kind::kWord;
    at = EndOfName(text_, at, false);
    token.text = std::string(text_.substr(start, at - start));
  } else if (first == '"') {
    token.kind = Token::Kind::kString;
    if (!SplitString(at, token.text)) return false;
  } else if (IsSigil(first)) {
    token.kind = Token::Kind::kSigil;
    ++at;
    if (at < text_.size() && text_[at] == '"') {
      std::string name;
      if (!SplitString(at, name)) return false;
      token.text += name;
    } else {
      at = EndOfName(text_, at, true);
      absl::StrAppend(&token.text, text_.substr(start + 1, at - start - 1));
    }
  } else if (absl::string_view("(){}[],=/").find(first) !=
             absl::string_view::npos) {
    ++at;
  } else {
    Fail(text_.substr(start, 1), "found a byte that begins no word; remove it");
    return false;
  }
  token.where = text_.substr(start, at - start);
  tokens_.push_back(std::move(token));
  return true;
}

bool PlanLine::SplitString(size_t& at, std::string& content) {
  const size_t start = at++;
  while (at < text_.size() && text_[at] != '"') {
    at += text_[at] == '\\' ? 2 : 1;
  }
  if (at >= text_.size()) {
    Fail(text_.substr(start, 1),
         "found a string without end; expected a closing quote");
    return false;
  }
  ++at;
  const absl::string_view quoted = text_.substr(start, at - start);
  std::optional<std::string> unquoted = Unquoted(quoted);
  if (!unquoted.has_value()) {
    Fail(quoted, "found a string with a bad escape");
    return false;
  }
  content = *std::move(unquoted);
  return true;
}

void PlanLine::Fail(absl::string_view where, absl::string_view message,
                    absl::string_view hint) {
  if (!ok_) return;
  ok_ = false;
  faults_.Report(where, message, hint);
}

void PlanLine::FailHere(absl::string_view message, absl::string_view hint) {
  if (next_ == 0) return FailNext(message, hint);
  Fail(tokens_[next_ - 1].where, message, hint);
}

void PlanLine::FailNext(absl::string_view message, absl::string_view hint) {
  Fail(at_end() ? text_.substr(text_.size()) : tokens_[next_].where, message,
       hint);
}

const PlanLine::Token* PlanLine::Next(Token::Kind kind) const {
  if (!ok_ || at_end() || tokens_[next_].kind != kind) return nullptr;
  return &tokens_[next_];
}

bool PlanLine::NextIs(absl::string_view word) const {
  if (!ok_ || at_end()) return false;
  const Token& token = tokens_[next_];
  return (token.kind == Token::Kind::kWord ||
          token.kind == Token::Kind::kMark) &&
         token.text == word;
}

bool PlanLine::Take(absl::string_view word) {
  if (!NextIs(word)) return false;
  ++next_;
  return true;
}

bool PlanLine::NextIsSigil(char sigil) const {
  const Token* token = Next(Token::Kind::kSigil);
  return token != nullptr && token->text[0] == sigil;
}

bool PlanLine::NextIsInt() const {
  const Token* token = Next(Token::Kind::kWord);
  return token != nullptr && absl::ascii_isdigit(token->text[0]);
}

void PlanLine::Expect(absl::string_view word) {
  if (!Take(word)) FailNext(absl::StrCat("expected `", word, "`"));
}

void PlanLine::ExpectEnd() {
  if (ok_ && !at_end()) FailNext("expected the end of the line");
}

int64_t PlanLine::Int(absl::string_view what, int64_t low, int64_t high) {
  const Token* token = Next(Token::Kind::kWord);
  int64_t value = 0;
  if (token == nullptr || !ParseInt64(token->text, value) || value < low ||
      value > high) {
    FailNext(
        absl::StrCat("expected ", what, ", a number in ", low, "..", high));
    return low;
  }
  ++next_;
  return value;
}

double PlanLine::Double(absl::string_view what) {
  const Token* token = Next(Token::Kind::kWord);
  double value = 0;
  if (token == nullptr || !ParseDouble(token->text, value)) {
    FailNext(absl::StrCat("expected ", what, ", a number"));
    return 0;
  }
  ++next_;
  return value;
}

std::string PlanLine::Name(absl::string_view what) {
  const Token* token = Next(Token::Kind::kWord);
  if (token == nullptr) token = Next(Token::Kind::kString);
  if (token == nullptr) {
    FailNext(absl::StrCat("expected ", what));
    return "";
  }
  ++next_;
  return token->text;
}

std::string PlanLine::String(absl::string_view what) {
  const Token* token = Next(Token::Kind::kString);
  if (token == nullptr) {
    FailNext(absl::StrCat("expected ", what, " in quotes"));
    return "";
  }
  ++next_;
  return token->text;
}

std::string PlanLine::Sigil(char sigil, absl::string_view what) {
  if (!NextIsSigil(sigil)) {
    FailNext(absl::StrCat("expected ", what, ", as in ", std::string(1, sigil),
                          "x"));
    return "";
  }
  return tokens_[next_++].text.substr(1);
}

bool PlanLine::NextStartsWith(absl::string_view prefix) const {
  const Token* token = Next(Token::Kind::kWord);
  return token != nullptr && absl::StartsWith(token->text, prefix);
}

int64_t PlanLine::Numbered(absl::string_view prefix, int64_t bound) {
  const Token* token = Next(Token::Kind::kWord);
  if (token == nullptr) token = Next(Token::Kind::kSigil);
  int64_t value = 0;
  if (token == nullptr || !absl::StartsWith(token->text, prefix) ||
      !ParseInt64(token->text.substr(prefix.size()), value) || value < 0 ||
      value >= bound) {
    FailNext(absl::StrCat("expected ", prefix, "N, with N less than ", bound));
    return 0;
  }
  ++next_;
  return value;
}

int64_t PlanLine::SigilNumber(char sigil, int64_t bound) {
  return Numbered(absl::string_view(&sigil, 1), bound);
}

void PlanLine::ReadList(absl::string_view open, absl::string_view close,
                        absl::FunctionRef<void()> read) {
  Expect(open);
  for (bool first = true; ok_ && !NextIs(close); first = false) {
    if (!first) Expect(",");
    read();
  }
  Expect(close);
}

TensorType PlanLine::Type() {
  TensorType type;
  const std::string name = Name("a type, as in f32[2, 3]");
  const std::optional<DType> dtype = ParseDType(name);
  if (ok_ && !dtype.has_value()) {
    FailHere("expected an element type such as f32 or i64");
  }
  if (!ok_) return type;
  const absl::string_view first = tokens_[next_ - 1].where;
  type.dtype = *dtype;
  ReadList("[", "]", [&] {
    type.dims.push_back(Int("an extent", 0, kMaxTensorBytes));
    if (type.rank() > kMaxRank) FailHere("expected fewer dimensions");
  });
  // A brace directly after the type is its layout; any other opens a block.
  if (NextIs("{") &&
      tokens_[next_].where.data() == tokens_[next_ - 1].where.end()) {
    Expect("{");
    const absl::StatusOr<Layout> layout =
        ParseLayout(Name("a layout"), type.rank());
    if (ok_ && !layout.ok()) FailHere(layout.status().message());
    if (ok_) type.layout = *layout;
    Expect("}");
  }
  if (!ok_) return {};
  if (const absl::Status valid = CheckType(type); !valid.ok()) {
    const char* end = tokens_[next_ - 1].where.end();
    Fail(absl::string_view(first.data(), end - first.data()), valid.message());
    return {};
  }
  return type;
}

absl::StatusOr<TensorType> ParseTensorType(absl::string_view text) {
  Diagnostics faults(text, "type");
  PlanLine line(text, faults);
  TensorType type = line.Type();
  line.ExpectEnd();
  if (!faults.ok()) return faults.ToStatus();
  return type;
}

ContentHash PlanLine::Hash() {
  const std::string hex = Sigil('#', "a content hash");
  const std::optional<ContentHash> hash = ParseContentHash(hex);
  if (ok_ && !hash.has_value()) {
    FailHere("expected 32 hexadecimal digits");
  }
  return hash.value_or(ContentHash{});
}

}  // namespace partita
