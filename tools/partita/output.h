// The program's output: text and progress.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_OUTPUT_H_
#define PARTITA_TOOLS_PARTITA_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// Writes to a file, whole or not at all, or to standard output if `path` is
// "-", as Printable.
absl::Status WriteText(const std::string& path, absl::string_view text);

// "partita: TEXT" and "partita: warning: TEXT" on standard error, as Printable.
void WriteError(absl::string_view text);
void WriteWarning(absl::string_view text);

// The text made safe for a terminal, whatever bytes names have: UTF-8, with
// escapes like \x1b for control characters except line ends and tabs, and for
// other bytes, and \u202e for characters that reorder the text around them.
std::string Printable(absl::string_view text);

// True if WriteText failed because nobody reads standard output any more. If
// SIGPIPE is ignored, the caller must end the program.
bool HasNoReader(const absl::Status& status);

// One line on a terminal with the current state of long work; silent elsewhere.
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
