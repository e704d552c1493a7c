// The characters of a text, numbered: what a character model's tokens are.
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
// characters that they stand for.
class Vocabulary {
 public:
  enum class Unit { kBytes, kCharacters };

  // Those that the text holds. With kCharacters the text must be UTF-8.
  static absl::StatusOr<Vocabulary> OfText(absl::string_view text, Unit unit,
                                           absl::string_view source);
  // What ToString made, as kept beside a model's weights.
  static absl::StatusOr<Vocabulary> Parse(absl::string_view text);
  // ASCII: "bytes 0a 20 61" or "characters 20 e9 1f600", codes in hexadecimal.
  std::string ToString() const;

  Unit unit() const { return unit_; }
  int64_t size() const { return static_cast<int64_t>(codes_.size()); }

  // InvalidArgument, with line and column, for what the vocabulary has not.
  absl::StatusOr<std::vector<int32_t>> Encode(absl::string_view text,
                                              absl::string_view source) const;
  // Tokens that do not exist are left out.
  std::string Decode(absl::Span<const int32_t> tokens) const;

 private:
  Vocabulary(Unit unit, std::vector<uint32_t> codes);

  Unit unit_;
  std::vector<uint32_t> codes_;  // by token, ascending
  absl::flat_hash_map<uint32_t, int32_t> tokens_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_VOCABULARY_H_
