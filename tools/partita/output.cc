// Writing text and progress.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "graph/utf8.h"

namespace partita {
namespace {

constexpr char kNoReader[] = "partita/no-reader";

absl::Status WriteToFile(const std::string& path, absl::string_view text) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(text));
  return file->Commit();
}

// A terminal may interpret it. Line ends and tabs are layout.
bool IsControl(uint32_t code) {
  if (code == '\n' || code == '\t') return false;
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// It changes the order or the lines in which a terminal shows what follows.
bool IsReordering(uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

absl::Status WriteText(const std::string& path, absl::string_view text) {
  if (path != "-") return WriteToFile(path, text);
  const std::string shown = Printable(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() &&
      std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  if (errno != EPIPE) {
    return absl::ResourceExhaustedError(
        "standard output: found it closed or full; expected room for the text");
  }
  absl::Status status = absl::ResourceExhaustedError(
      "standard output: found that nobody reads it any more; expected a "
      "reader up to the end");
  status.SetPayload(kNoReader, absl::Cord());
  return status;
}

bool HasNoReader(const absl::Status& status) {
  return status.GetPayload(kNoReader).has_value();
}

void WriteError(absl::string_view text) {
  std::fprintf(stderr, "partita: %s\n", Printable(text).c_str());
}

void WriteWarning(absl::string_view text) {
  // The next stage overwrites a terminal's progress line.
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  WriteError(absl::StrCat("warning: ", text));
}

std::string Printable(absl::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const absl::string_view before = text;
    const std::optional<uint32_t> code = TakeCodePoint(text);
    if (!code.has_value()) {
      absl::StrAppendFormat(&shown, "\\x%02x",
                            static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
    } else if (IsControl(*code)) {
      absl::StrAppendFormat(&shown, "\\x%02x", *code);
    } else if (IsReordering(*code)) {
      absl::StrAppendFormat(&shown, "\\u%04x", *code);
    } else {
      shown.append(before.data(), before.size() - text.size());
    }
  }
  return shown;
}

Progress::Progress(absl::string_view command) : command_(command) {}

void Progress::Stage(absl::string_view name) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r\033[K%s: %s", command_.c_str(),
               Printable(name).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::Done() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace partita
