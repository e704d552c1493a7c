// Formats faults with line, column and caret.
// SPDX-License-Identifier: Apache-2.0

#include "graph/text/diagnostics.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr int kMostFaults = 20;
constexpr size_t kBefore = 80;  // columns shown on either side of the caret
constexpr size_t kAfter = 60;

// Replaces bytes that must not go to a terminal.
std::string Printable(absl::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (c == '\t') c = ' ';
    if (!absl::ascii_isprint(c)) c = '?';
  }
  return printable;
}

}  // namespace

bool Diagnostics::full() const { return faults_ >= kMostFaults; }

void Diagnostics::Report(absl::string_view where, absl::string_view message,
                         absl::string_view hint) {
  ++faults_;
  if (faults_ > kMostFaults) return;
  const size_t at = static_cast<size_t>(where.data() - text_.data());
  const absl::string_view before = text_.substr(0, at);
  const size_t line_start = before.rfind('\n') + 1;  // 0 if there is none
  const size_t line_end = std::min(text_.find('\n', at), text_.size());
  const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = at - line_start;
  const size_t first = line_start + (column > kBefore ? column - kBefore : 0);
  const size_t last = std::min(line_end, at + kAfter);
  const size_t width =
      std::max<size_t>(1, std::min(where.size(), last - std::min(at, last)));
  absl::StrAppend(&messages_, messages_.empty() ? "" : "\n", source_, ":", line,
                  ":", column + 1, ": ", message, "\n  ",
                  Printable(text_.substr(first, last - first)), "\n  ",
                  std::string(at - first, ' '), "^",
                  std::string(width - 1, '~'));
  if (!hint.empty()) absl::StrAppend(&messages_, "\n  ", hint);
}

absl::Status Diagnostics::ToStatus() const {
  if (ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      messages_, faults_ > kMostFaults ? "\ntoo many faults: the first " : "",
      faults_ > kMostFaults ? absl::StrCat(kMostFaults, " are shown") : ""));
}

}  // namespace partita
