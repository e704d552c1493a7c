// Fuzz target: any bytes are safe to number as the characters of a text and to
// read as a vocabulary; texts and vocabularies come back unchanged.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/dataset/vocabulary.h"
#include "tests/fuzz/expect.h"

namespace partita {
namespace {

void NumberCharacters(absl::string_view text, Vocabulary::Unit unit) {
  const auto vocabulary = Vocabulary::OfText(text, unit, "input");
  if (!vocabulary.ok()) return;
  const auto tokens = vocabulary->Encode(text, "input");
  ExpectFuzz(tokens.ok(), "a vocabulary lacks a character of its text",
             tokens.status().ToString());
  ExpectFuzz(vocabulary->Decode(*tokens) == text, "another text");
  const auto again = Vocabulary::Parse(vocabulary->ToString());
  ExpectFuzz(again.ok() && again->ToString() == vocabulary->ToString(),
             "another vocabulary", vocabulary->ToString());
}

}  // namespace
}  // namespace partita

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace partita;
  const absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  NumberCharacters(text, Vocabulary::Unit::kBytes);
  NumberCharacters(text, Vocabulary::Unit::kCharacters);
  const auto vocabulary = Vocabulary::Parse(text);
  if (!vocabulary.ok()) return 0;
  const auto again = Vocabulary::Parse(vocabulary->ToString());
  ExpectFuzz(again.ok() && again->ToString() == vocabulary->ToString(),
             "another vocabulary", vocabulary->ToString());
  return 0;
}
