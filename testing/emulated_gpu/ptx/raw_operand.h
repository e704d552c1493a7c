// Operands as they are written, before their instruction is known.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_PTX_RAW_OPERAND_H_
#define PARTITA_TESTING_EMULATED_GPU_PTX_RAW_OPERAND_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "testing/emulated_gpu/ptx/instruction_set.h"
#include "testing/emulated_gpu/ptx/tokens.h"

namespace partita::ptx {

// A word with an optional minus: "%r1", "-5", "0f3F800000", "$L__BB0_1".
struct RawWord {
  bool negative = false;
  absl::string_view text;
};

struct RawOperand {
  enum class Kind : uint8_t { kWord, kVector, kBracket };
  Kind kind = Kind::kWord;
  // One word; those of a vector in braces; or what is in brackets, and what is
  // added to it.
  std::vector<RawWord> words;
};

// Up to and without the semicolon, at most eight operands, each of at most four
// words; nullopt if they are written otherwise.
std::optional<std::vector<RawOperand>> ReadOperands(Tokens& tokens);

// The bits of a number for an operand of `type`; nullopt if it is none, or not
// in the type's range.
std::optional<uint64_t> ReadNumber(const RawWord& word, Type type);

}  // namespace partita::ptx

#endif  // PARTITA_TESTING_EMULATED_GPU_PTX_RAW_OPERAND_H_
