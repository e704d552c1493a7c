// Writing text and progress.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr char kNoReader[] = "partita/no-reader";

absl::Status WriteToFile(const std::string& path, absl::string_view text) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(text));
  return file->Commit();
}

}  // namespace

absl::Status WriteText(const std::string& path, absl::string_view text) {
  if (path != "-") return WriteToFile(path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
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

void WriteWarning(absl::string_view text) {
  // A terminal's line of progress is written again at the next stage.
  std::fprintf(stderr, "%spartita: warning: %s\n",
               isatty(STDERR_FILENO) ? "\r\033[K" : "",
               std::string(text).c_str());
}

Progress::Progress(absl::string_view command) : command_(command) {}

void Progress::Stage(absl::string_view name) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "\r\033[K%s: %s", command_.c_str(),
               std::string(name).c_str());
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
