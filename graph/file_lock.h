// A lock on a file, for processes that read, change and write it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_FILE_LOCK_H_
#define PARTITA_GRAPH_FILE_LOCK_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace partita {

// At most one holder at a time, of all threads and processes of a host. The
// lock is one of flock(2) on `path`.lock, since an AtomicFile replaces the file
// itself; for a symbolic link, beside its target. The holder removes that file
// at the end. If it dies before, the system releases the lock: a file that is
// left over locks nothing.
class FileLock {
 public:
  // Waits while another holds the lock. Unavailable after `patience`; errors of
  // WriteFailure (atomic_file.h) if there can be no lock file.
  static absl::StatusOr<FileLock> Of(const std::string& path,
                                     std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  FileLock(std::string name, int fd);

  std::string name_;  // of the lock file
  int fd_;            // -1: moved from
};

}  // namespace partita

#endif  // PARTITA_GRAPH_FILE_LOCK_H_
