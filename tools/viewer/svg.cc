// Runs Graphviz.
// SPDX-License-Identifier: Apache-2.0

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "tools/viewer/dot_text.h"

extern char** environ;

namespace partita {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

absl::StatusOr<File> TemporaryFile() {
  File file(std::tmpfile(), std::fclose);
  if (file == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("found no temporary file: ", std::strerror(errno),
                     "; expected room for one in /tmp"));
  }
  return file;
}

// `dot -Tsvg` from one file to the other.
absl::Status RunDot(int input, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  const char* const words[] = {"dot", "-Tsvg", nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "dot", &files, nullptr,
                                 const_cast<char* const*>(words), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return absl::NotFoundError(
        absl::StrCat("found no program dot: ", std::strerror(error),
                     "; expected Graphviz; install graphviz, or write "
                     "--format dot"));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("dot: found wait status ", status,
                   "; expected 0; look at its messages, and try --format dot"));
}

}  // namespace

absl::StatusOr<std::string> SvgOf(const std::string& dot_text) {
  PARTITA_ASSIGN_OR_RETURN(const File input, TemporaryFile());
  PARTITA_ASSIGN_OR_RETURN(const File output, TemporaryFile());
  if (std::fwrite(dot_text.data(), 1, dot_text.size(), input.get()) !=
          dot_text.size() ||
      std::fflush(input.get()) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "writing to dot: ", std::strerror(errno), "; free space in TMPDIR"));
  }
  std::rewind(input.get());
  PARTITA_RETURN_IF_ERROR(RunDot(fileno(input.get()), fileno(output.get())));
  std::rewind(output.get());
  std::string svg;
  char block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof(block), output.get())) > 0;) {
    svg.append(block, n);
  }
  return svg;
}

}  // namespace partita
