// One pass over the text.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/tokens.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace partita::ptx {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

}  // namespace

Token Tokens::Take() {
  const Token taken = next_;
  Advance();
  return taken;
}

bool Tokens::Accept(absl::string_view text) {
  if (next_.text != text) return false;
  Advance();
  return true;
}

void Tokens::SkipBlanks() {
  const auto skip = [&](size_t count) {
    count = std::min(count, rest_.size());
    line_ += static_cast<int>(
        std::count(rest_.begin(), rest_.begin() + count, '\n'));
    rest_.remove_prefix(count);
  };
  while (!rest_.empty()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(rest_.front()))) {
      skip(1);
    } else if (absl::StartsWith(rest_, "//")) {
      skip(rest_.find('\n'));
    } else if (absl::StartsWith(rest_, "/*")) {
      const size_t end = rest_.find("*/", 2);
      skip(end == absl::string_view::npos ? end : end + 2);
    } else {
      return;
    }
  }
}

void Tokens::Advance() {
  SkipBlanks();
  size_t length = 0;
  while (length < rest_.size() && IsWordCharacter(rest_[length])) ++length;
  if (length == 0 && !rest_.empty()) length = 1;
  next_ = {rest_.substr(0, length), line_};
  rest_.remove_prefix(length);
}

bool IsWord(const Token& token) {
  return !token.text.empty() && IsWordCharacter(token.text.front());
}

}  // namespace partita::ptx
