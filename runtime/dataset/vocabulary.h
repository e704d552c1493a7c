// The characters of a text and their numbers: the tokens of a character model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_VOCABULARY_H_
#define PARTITA_RUNTIME_DATASET_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace partita {

// Tokens are 0 .. size() - 1, in ascending order of the bytes or Unicode
// characters that they represent.
class Vocabulary {
 public:
  enum class Unit { kBytes, kCharacters };

  // The units in the text. With kCharacters the text must be UTF-8.
  static absl::StatusOr<Vocabulary> OfText(absl::string_view text, Unit unit,
                                           absl::string_view source);
  // Parses the result of ToString, which is stored beside a model's weights.
  static absl::StatusOr<Vocabulary> Parse(absl::string_view text);
  // ASCII: "bytes 0a 20 61" or "characters 20 e9 1f600", codes in hexadecimal.
  std::string ToString() const;

  Unit unit() const { return unit_; }
  int64_t size() const { return static_cast<int64_t>(codes_.size()); }

  // InvalidArgument, with line and column, for units outside the vocabulary.
  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              absl::string_view source) const;
  // Skips tokens that do not exist.
  std::string Decode(absl::Span<const int32_t> tokens) const;

 private:
  Vocabulary(Unit unit, std::vector<uint32_t> codes);

  Unit unit_;
  std::vector<uint32_t> codes_;  // by token, ascending
  absl::flat_hash_map<uint32_t, int32_t> tokens_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_VOCABULARY_H_
