// Lists of words, braces and brackets, and numbers.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/raw_operand.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace partita::ptx {
namespace {

constexpr size_t kMostRawOperands = 8;
constexpr size_t kMostWords = 4;

std::optional<RawWord> ReadWord(Tokens& tokens) {
  const bool negative = tokens.Accept("-");
  if (!IsWord(tokens.peek())) return std::nullopt;
  return RawWord{negative, tokens.Take().text};
}

// Words between signs, up to `close`.
bool ReadWords(Tokens& tokens, absl::string_view between,
               absl::string_view close, std::vector<RawWord>& words) {
  do {
    const std::optional<RawWord> word = ReadWord(tokens);
    if (!word.has_value() || words.size() == kMostWords) return false;
    words.push_back(*word);
  } while (tokens.Accept(between));
  return tokens.Accept(close);
}

std::optional<RawOperand> ReadOperand(Tokens& tokens) {
  RawOperand operand;
  if (tokens.Accept("{")) {
    operand.kind = RawOperand::Kind::kVector;
    if (!ReadWords(tokens, ",", "}", operand.words)) return std::nullopt;
  } else if (tokens.Accept("[")) {
    operand.kind = RawOperand::Kind::kBracket;
    if (!ReadWords(tokens, "+", "]", operand.words)) return std::nullopt;
    if (operand.words.size() > 2) return std::nullopt;
  } else {
    const std::optional<RawWord> word = ReadWord(tokens);
    if (!word.has_value()) return std::nullopt;
    operand.words.push_back(*word);
  }
  return operand;
}

// Decimal, or hexadecimal behind 0x.
std::optional<uint64_t> Magnitude(absl::string_view text) {
  uint64_t value = 0;
  const bool is_hex =
      text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (is_hex) {
    if (absl::SimpleHexAtoi(text, &value)) return value;
    return std::nullopt;
  }
  const bool has_digits = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (has_digits && absl::SimpleAtoi(text, &value)) return value;
  return std::nullopt;
}

// 0f and eight digits, 0d and sixteen: the bits of a float.
std::optional<uint64_t> FloatBits(absl::string_view text, int bytes) {
  const char letter = bytes == 4 ? 'f' : 'd';
  if (text.size() != static_cast<size_t>(2 + 2 * bytes) || text[0] != '0' ||
      absl::ascii_tolower(static_cast<unsigned char>(text[1])) != letter) {
    return std::nullopt;
  }
  for (char digit : text.substr(2)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit))) {
      return std::nullopt;
    }
  }
  uint64_t bits = 0;
  if (!absl::SimpleHexAtoi(text.substr(2), &bits)) return std::nullopt;
  return bits;
}

}  // namespace

std::optional<std::vector<RawOperand>> ReadOperands(Tokens& tokens) {
  std::vector<RawOperand> operands;
  if (tokens.peek().text == ";") return operands;
  do {
    std::optional<RawOperand> operand = ReadOperand(tokens);
    if (!operand.has_value() || operands.size() == kMostRawOperands) {
      return std::nullopt;
    }
    operands.push_back(*std::move(operand));
  } while (tokens.Accept(","));
  return operands;
}

std::optional<uint64_t> ReadNumber(const RawWord& word, Type type) {
  if (IsFloat(type)) {
    if (word.negative || BytesOf(type) < 4) return std::nullopt;
    return FloatBits(word.text, BytesOf(type));
  }
  const std::optional<uint64_t> magnitude = Magnitude(word.text);
  if (!magnitude.has_value()) return std::nullopt;
  if (type == Type::kPred) return *magnitude != 0;
  const int bits = 8 * BytesOf(type);
  const uint64_t half = uint64_t{1} << (bits - 1);
  const uint64_t most = half - 1 + half;
  if (*magnitude > (word.negative ? half : most)) return std::nullopt;
  return (word.negative ? 0 - *magnitude : *magnitude) & most;
}

}  // namespace partita::ptx
