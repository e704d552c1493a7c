// Splits text into tokens.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace partita {
namespace {

using Kind = Token::Kind;

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordPart(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.';
}

// Lengths of the token of each kind at the start of `text`, which is not empty.

size_t WordLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size()) {
    const bool joins =
        text[n] == ':' && n + 1 < text.size() && IsWordPart(text[n + 1]);
    if (!IsWordPart(text[n]) && !joins) break;
    ++n;
  }
  return n;
}

size_t NameLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && (IsWordPart(text[n]) || text[n] == '/')) ++n;
  return n;
}

size_t NumberLength(absl::string_view text) {
  if (text.size() > 1 && text[0] == '-' && IsWordStart(text[1])) {
    return 1 + WordLength(text.substr(1));  // -inf, -nan
  }
  size_t n = 1;
  while (n < text.size()) {
    const bool exponent_sign =
        (text[n] == '-' || text[n] == '+') && text[n - 1] == 'e';
    if (!IsWordPart(text[n]) && !exponent_sign) break;
    ++n;
  }
  return n;
}

// With both quotes; 0 if the line ends first.
size_t StringLength(absl::string_view text) {
  for (size_t n = 1; n < text.size() && text[n] != '\n'; ++n) {
    if (text[n] == '"') return n + 1;
    if (text[n] == '\\') ++n;
  }
  return 0;
}

// A sigil and its name; 0 if no name follows.
size_t SigilLength(absl::string_view text) {
  const absl::string_view rest = text.substr(1);
  const size_t length =
      !rest.empty() && rest[0] == '"' ? StringLength(rest) : NameLength(rest);
  return length == 0 ? 0 : length + 1;
}

size_t SpaceLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() &&
         (text[n] == ' ' || text[n] == '\t' || text[n] == '\r')) {
    ++n;
  }
  if (absl::StartsWith(text.substr(n), "//")) {
    while (n < text.size() && text[n] != '\n') ++n;
  }
  return n;
}

Token Bad(absl::string_view text, size_t length) {
  return {Kind::kBad, text.substr(0, length)};
}

Token OrBad(Kind kind, absl::string_view text, size_t length) {
  return length == 0 ? Bad(text, 1) : Token{kind, text.substr(0, length)};
}

Token NextToken(absl::string_view text) {
  const char c = text[0];
  if (c == '\n') return {Kind::kNewline, text.substr(0, 1)};
  if (IsWordStart(c)) return {Kind::kWord, text.substr(0, WordLength(text))};
  if (absl::StartsWith(text, "->")) return {Kind::kArrow, text.substr(0, 2)};
  if (absl::ascii_isdigit(c) || c == '-') {
    return {Kind::kNumber, text.substr(0, NumberLength(text))};
  }
  if (c == '"') return OrBad(Kind::kString, text, StringLength(text));
  if (c == '%') return OrBad(Kind::kValue, text, SigilLength(text));
  if (c == '@') return OrBad(Kind::kSymbol, text, SigilLength(text));
  if (c == '#') return OrBad(Kind::kHash, text, SigilLength(text));
  if (absl::string_view("(){}[],:=").find(c) != absl::string_view::npos) {
    return {Kind::kPunct, text.substr(0, 1)};
  }
  return Bad(text, 1);
}

}  // namespace

std::vector<Token> Lex(absl::string_view text) {
  std::vector<Token> tokens;
  while (true) {
    text.remove_prefix(SpaceLength(text));
    if (text.empty()) break;
    const Token token = NextToken(text);
    text.remove_prefix(token.text.size());
    const bool repeated = token.kind == Kind::kNewline && !tokens.empty() &&
                          tokens.back().kind == Kind::kNewline;
    if (!repeated) tokens.push_back(token);
  }
  tokens.push_back({Kind::kNewline, text});
  tokens.push_back({Kind::kEnd, text});
  return tokens;
}

}  // namespace partita
