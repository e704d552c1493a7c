// Golden files: graphs, and the result of passes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GOLDEN_GOLDEN_FILE_H_
#define PARTITA_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace partita {

// One example:
//
//   === a pair that composes to the identity goes away
//   graph @f(...) ... { ... }
//   --- becomes
//   graph @f(...) ... { ... }
//
// or `--- unchanged`, `--- fails` and the message, `--- same as TITLE` (another
// example of the file, which must end as the same graph).
struct GoldenExample {
  enum class Ending { kBecomes, kUnchanged, kFails, kSameAs };
  std::string title;
  std::string input;
  Ending ending = Ending::kUnchanged;
  std::string expected;  // text, message, or the other title
};

struct GoldenFile {
  std::string head;                 // before the first example
  std::vector<std::string> passes;  // of its line `// run: a, b`
  std::vector<GoldenExample> examples;
};

absl::StatusOr<GoldenFile> ParseGolden(absl::string_view text);
// A parsed file's text, except blank lines between examples.
std::string PrintGolden(const GoldenFile& file);

}  // namespace partita

#endif  // PARTITA_TESTS_GOLDEN_GOLDEN_FILE_H_
