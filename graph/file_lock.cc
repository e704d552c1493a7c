// Waits for flock(2).
// SPDX-License-Identifier: Apache-2.0

#include "graph/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause(10);

std::string LockFileOf(const std::string& path) {
  return absl::StrCat(BehindLinks(path), ".lock");
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Of(const std::string& path,
                                      std::chrono::milliseconds patience) {
  const std::string name = LockFileOf(path);
  const int fd =
      open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return WriteFailure(name, "cannot be opened", errno);
  FileLock lock(fd);
  // flock waits without a limit, so it is asked again and again: a holder may
  // be stopped.
  const Clock::time_point end = Clock::now() + patience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return WriteFailure(name, "cannot be locked", errno);
    }
    if (Clock::now() >= end) {
      return absl::UnavailableError(absl::StrCat(
          name, ": found it locked by another process for ", patience.count(),
          " ms; expected it free; end that process, or name another file"));
    }
    std::this_thread::sleep_for(kPause);
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace partita
