// What the program writes: text, progress.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_OUTPUT_H_
#define PARTITA_TOOLS_PARTITA_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// To a file, all of it or nothing, or to standard output if `path` is "-", as
// Printable.
absl::Status WriteText(const std::string& path, absl::string_view text);

// "partita: TEXT" and "partita: warning: TEXT" on standard error, as Printable.
void WriteError(absl::string_view text);
void WriteWarning(absl::string_view text);

// The text as a terminal may get it, whatever bytes a name in it has: UTF-8,
// with U+FFFD for what is not, and escapes as \x1b for control characters other
// than the ends of lines and tabs.
std::string Printable(absl::string_view text);

// Whether WriteText failed as nobody reads standard output any more: where
// SIGPIPE is ignored, it is the caller who ends the program then.
bool HasNoReader(const absl::Status& status);

// One line on a terminal that says what long work is at; silent elsewhere.
class Progress {
 public:
  explicit Progress(absl::string_view command);
  ~Progress() { Done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Stage(absl::string_view name);
  void Done();

 private:
  std::string command_;
  bool shown_ = false;
};

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_OUTPUT_H_
