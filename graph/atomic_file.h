// A file that appears whole or not at all.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ATOMIC_FILE_H_
#define PARTITA_GRAPH_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace partita {

// Writes to a file in the folder of `path` that has no name yet; Commit gives
// it one. A process that dies before leaves nothing behind. (Where the file
// system has no files without names, it is another name until Commit; that is
// removed again, but by a process that is killed.) A device or a pipe, which
// cannot be replaced, is written to as it is. Of a symbolic link what it stands
// for is replaced, whether that is there or not.
class AtomicFile {
 public:
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(
      const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Write(absl::Span<const std::byte> bytes);
  absl::Status WriteText(absl::string_view text);
  // Writes zeros up to `offset`, which must not lie behind.
  absl::Status PadTo(int64_t offset);
  int64_t offset() const { return offset_; }
  // To the disk, then under its name.
  absl::Status Commit();

 private:
  AtomicFile() = default;
  absl::Status OpenNamed();
  // Gives the file without a name that of `path`, or of `written_path_` if
  // there is a file to replace.
  absl::Status Link();
  absl::Status Failure(int error, const char* what) const;

  std::string path_;
  std::string written_path_;  // to be renamed; empty: none
  int fd_ = -1;
  bool replaces_ = true;   // false: a device or a pipe
  bool nameless_ = false;  // so far
  int64_t offset_ = 0;
  bool committed_ = false;
};

// open(2) for writing, with more flags. A pipe that nobody reads is an error,
// ENXIO, and no wait that a signal would not end.
int OpenToWrite(const std::string& path, int flags);

// "PATH: WHAT: what the system says of `error`, an errno", `more`, and what to
// do about it where that is known: make room, make the folder, or name another
// file. ResourceExhausted where there is no room.
absl::Status WriteFailure(const std::string& path, const char* what, int error,
                          absl::string_view more = "");

// Whether a file can be written there, before the work that is for it; of a
// pipe nothing is asked.
absl::Status CheckWritable(const std::string& path);

}  // namespace partita

#endif  // PARTITA_GRAPH_ATOMIC_FILE_H_
