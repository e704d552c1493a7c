// Waits for flock(2).
// SPDX-License-Identifier: Apache-2.0

#include "graph/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

// False if the file was removed since it was opened.
bool IsNamed(int fd, const std::string& name) {
  struct stat held, named;
  return fstat(fd, &held) == 0 && lstat(name.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

absl::Status StillLocked(const std::string& name,
                         std::chrono::milliseconds patience) {
  return absl::UnavailableError(absl::StrCat(
      name, ": found it locked by another process for ", patience.count(),
      " ms; expected it free; end that ", "process, or name another file"));
}

// flock waits without a limit, so it is asked again and again: a holder may be
// stopped.
absl::Status LockBefore(Clock::time_point end, int fd, const std::string& name,
                        std::chrono::milliseconds patience) {
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return WriteFailure(name, "cannot be locked", errno);
    }
    if (Clock::now() >= end) return StillLocked(name, patience);
    std::this_thread::sleep_for(kPause);
  }
  return absl::OkStatus();
}

}  // namespace

FileLock::FileLock(std::string name, int fd)
    : name_(std::move(name)), fd_(fd) {}

absl::StatusOr<FileLock> FileLock::Of(const std::string& path,
                                      std::chrono::milliseconds patience) {
  std::string name = LockFileOf(path);
  const Clock::time_point end = Clock::now() + patience;
  while (true) {
    const int fd =
        open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) return WriteFailure(name, "cannot be opened", errno);
    const absl::Status locked = LockBefore(end, fd, name, patience);
    if (locked.ok() && IsNamed(fd, name)) return FileLock(std::move(name), fd);
    close(fd);
    if (!locked.ok()) return locked;
    // The holder before has removed it, and others may lock a new one.
  }
}

// Removed before it is released: who locks it later finds that it has no name.
FileLock::~FileLock() {
  if (fd_ < 0) return;
  unlink(name_.c_str());
  close(fd_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1)) {}

}  // namespace partita
