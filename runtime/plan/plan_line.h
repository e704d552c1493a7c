// Splits a line of a plan's text into words.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_LINE_H_
#define PARTITA_RUNTIME_PLAN_PLAN_LINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/literal_pool.h"
#include "graph/tensor_type.h"
#include "graph/text/diagnostics.h"

namespace partita {

// A name as in plan text: bare if possible, else in quotes. Names after a sigil
// may contain slashes.
std::string SpellName(absl::string_view name);
std::string SpellSigilName(char sigil, absl::string_view name);

// Parses what TensorType::ToString prints.
absl::StatusOr<TensorType> ParseTensorType(absl::string_view text);

// Takes a line's words from left to right. Reports the first fault; after it
// every call returns a default, so that callers check ok() once, at the end of
// the line.
class PlanLine {
 public:
  // `text` must be part of the text of `faults`, and outlive this.
  PlanLine(absl::string_view text, Diagnostics& faults);

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == tokens_.size(); }
  absl::string_view text() const { return text_; }

  // True if the next word or mark is `word`, which is then taken.
  bool Take(absl::string_view word);
  bool NextIs(absl::string_view word) const;
  bool NextIsSigil(char sigil) const;
  bool NextIsInt() const;
  bool NextStartsWith(absl::string_view prefix) const;
  void Expect(absl::string_view word);
  void ExpectEnd();

  int64_t Int(absl::string_view what, int64_t low, int64_t high);
  double Double(absl::string_view what);
  std::string Name(absl::string_view what);
  std::string String(absl::string_view what);
  // The name after `sigil`; `what` is the kind of thing, for messages.
  std::string Sigil(char sigil, absl::string_view what);
  // The number in `ev12` or `slot12`, or in `$12`; less than `bound`.
  int64_t Numbered(absl::string_view prefix, int64_t bound);
  int64_t SigilNumber(char sigil, int64_t bound);
  TensorType Type();
  ContentHash Hash();
  // Calls `read` for each element of a comma-separated list in brackets.
  void ReadList(absl::string_view open, absl::string_view close,
                absl::FunctionRef<void()> read);

  // Reports a fault at the word that was taken last, or at the next word.
  void FailHere(absl::string_view message, absl::string_view hint = "");
  void FailNext(absl::string_view message, absl::string_view hint = "");

 private:
  struct Token {
    enum class Kind : uint8_t { kWord, kString, kSigil, kMark };
    Kind kind;
    absl::string_view where;
    std::string text;  // content of a string, or of the name after a sigil
  };
  void Split();
  bool SplitOne(size_t& at);
  bool SplitString(size_t& at, std::string& content);
  void Fail(absl::string_view where, absl::string_view message,
            absl::string_view hint = "");
  const Token* Next(Token::Kind kind) const;

  absl::string_view text_;
  Diagnostics& faults_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  bool ok_ = true;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_LINE_H_
