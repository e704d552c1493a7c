// Waits for flock(2).
// SPDX-License-Identifier: Apache-2.0

#include "graph/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "graph/atomic_file.h"

namespace partita {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(10);

std::string LockFileOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(path, error);
  return absl::StrCat(error ? path : target.string(), ".lock");
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Of(const std::string& path,
                                      absl::Duration patience) {
  const std::string name = LockFileOf(path);
  const int fd =
      open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return WriteFailure(name, "cannot be opened", errno);
  FileLock lock(fd);
  // flock waits without a limit, so it is asked again and again: a holder may
  // be stopped.
  const absl::Time end = absl::Now() + patience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return WriteFailure(name, "cannot be locked", errno);
    }
    if (absl::Now() >= end) {
      return absl::UnavailableError(absl::StrCat(
          name, ": found it locked by another process for ",
          absl::FormatDuration(patience),
          "; expected it free; end that process, or name another file"));
    }
    absl::SleepFor(kPause);
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace partita
