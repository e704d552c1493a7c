// Splits the textual IR into tokens.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_LEXER_H_
#define PARTITA_GRAPH_TEXT_LEXER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

struct Token {
  enum class Kind : uint8_t {
    kWord,     // conv, f32, gpu:0, onednn.conv, nan:7f800001
    kNumber,   // -1, 2.5e-3, -inf
    kString,   // "...", with its quotes
    kValue,    // %x, %0, %"any text"
    kSymbol,   // @f, @"any text"
    kHash,     // #0123456789abcdef0123456789abcdef
    kPunct,    // one of ( ) { } [ ] , : =
    kArrow,    // ->
    kNewline,  // one for any number of line ends
    kEnd,
    kBad,  // no token at all
  };
  bool is(char punct) const { return kind == Kind::kPunct && text[0] == punct; }
  bool is(absl::string_view word) const {
    return kind == Kind::kWord && text == word;
  }

  Kind kind = Kind::kEnd;
  absl::string_view text;  // the part of the source, for every kind
};

// The tokens of `text`, which they refer to; the last is kEnd. Skips comments
// (`//` to the end of the line) and spaces. Never fails: other text becomes
// kBad.
std::vector<Token> Lex(absl::string_view text);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_LEXER_H_
