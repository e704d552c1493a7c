// Reads the smaller parts of the textual IR: names, numbers, lists, types.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_TOKEN_READER_H_
#define PARTITA_GRAPH_TEXT_TOKEN_READER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "graph/number.h"
#include "graph/tensor_type.h"
#include "graph/text/diagnostics.h"
#include "graph/text/lexer.h"

namespace partita {

// A position among the tokens. A fault is reported once and returns nothing (or
// false): the caller then skips the line with SkipLine.
class TokenReader {
 public:
  // `diagnostics` must outlive this, and `text` all tokens.
  TokenReader(absl::string_view text, Diagnostics* diagnostics)
      : tokens_(Lex(text)), diagnostics_(diagnostics) {}

  const Token& peek() const { return tokens_[at_]; }
  // Stays at kEnd.
  const Token& Take();
  int num_faults() const { return diagnostics_->num_faults(); }
  // True if further faults will not be shown.
  bool gave_up() const { return diagnostics_->full(); }
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  bool TryTake(char punct);
  bool TryTake(absl::string_view word);
  bool TryTake(Token::Kind kind);
  void SkipNewlines();
  // True if the first token after any line ends is `word`; then it is the next
  // token.
  bool ContinuesWith(absl::string_view word);
  // Skips to the first token after this statement's last line, including
  // bodies.
  void SkipLine();

  // Reports "found TOKEN; expected EXPECTED" at the next token.
  bool Fail(absl::string_view expected);
  bool Report(const Token& where, absl::string_view message,
              absl::string_view hint = "");

  bool Expect(char punct);
  bool Expect(Token::Kind kind, absl::string_view expected);
  // The end of the line, or a '}' that closes it.
  bool ExpectLineEnd();

  // The name after `%` or `@`; empty for a numbered value.
  std::optional<std::string> ReadName(Token::Kind kind,
                                      absl::string_view expected);
  std::optional<std::string> ReadString();
  // A bare word or a string.
  std::optional<std::string> ReadWordOrString(absl::string_view expected);
  std::optional<int64_t> ReadInt();
  std::optional<double> ReadDouble();
  std::optional<Number> ReadNumber();
  std::optional<bool> ReadBool();
  std::optional<DType> ReadDType();
  // `f32[1, 64]{ab16b}`, checked by CheckType.
  std::optional<TensorType> ReadType();

  // Items between `open` and `close`, with commas, on one or several lines.
  // False as soon as `item` is.
  bool ReadList(char open, char close, absl::FunctionRef<bool()> item);

 private:
  template <typename Value>
  std::optional<Value> ReadAs(bool (*parse)(absl::string_view, Value&));
  bool ReadLayout(TensorType& type);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Diagnostics* diagnostics_;
};

// The name of a kValue or kSymbol token, unquoted and without sigil.
std::optional<std::string> NameOf(const Token& token);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_TOKEN_READER_H_
