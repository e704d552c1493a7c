// The words and signs of a PTX text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_TOKENS_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_TOKENS_H_

#include "absl/strings/string_view.h"

namespace partita::ptx {

// A word is a longest row of letters, digits and _ $ % . (so "ld.global.f32",
// "%tid.x", "0f3F800000" and ".reg" are words); a sign is any other character.
// Empty at the end of the text.
struct Token {
  absl::string_view text;
  int line = 1;
};

// Skips blanks and comments. The text must outlive it.
class Tokens {
 public:
  explicit Tokens(absl::string_view text) : rest_(text) { Advance(); }
  const Token& peek() const { return next_; }
  Token Take();
  // Takes the next token if it is `text`.
  bool Accept(absl::string_view text);

 private:
  void SkipBlanks();
  void Advance();

  absl::string_view rest_;
  int line_ = 1;
  Token next_;
};

bool IsWord(const Token& token);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_TOKENS_H_
