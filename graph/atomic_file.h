// A file that appears complete or not at all.
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

// Writes to an unnamed file in the folder of `path`; Commit gives it the name.
// If the process dies before, no file is left. (On a file system without
// unnamed files, a temporary name is used until Commit. It is removed unless
// the process is killed.) A device or a pipe is written directly. If `path` is
// a symbolic link, its target is replaced or created.
class AtomicFile {
 public:
  static absl::StatusOr<std::unique_ptr<AtomicFile>> Create(
      const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  absl::Status Write(absl::Span<const std::byte> bytes);
  absl::Status WriteText(absl::string_view text);
  // Writes zeros up to `offset`, which must not be before the current end.
  absl::Status PadTo(int64_t offset);
  int64_t offset() const { return offset_; }
  // Syncs the file to disk, then gives it its name.
  absl::Status Commit();

 private:
  AtomicFile() = default;
  absl::Status OpenNamed();
  // Names the unnamed file `path`, or `written_path_` if there is a file to
  // replace.
  absl::Status Link();
  absl::Status Failure(int error, const char* what) const;

  std::string path_;
  std::string written_path_;  // temporary name; empty: none
  int fd_ = -1;
  bool replaces_ = true;   // false: a device or a pipe
  bool nameless_ = false;  // the file has no name yet
  int64_t offset_ = 0;
  bool committed_ = false;
};

// The target of symbolic links, which need not exist: AtomicFile replaces it,
// not the link.
std::string BehindLinks(std::string path);

// open(2) for writing, with more flags. A pipe without a reader is an error,
// ENXIO; the call does not wait.
int OpenToWrite(const std::string& path, int flags);

// "PATH: WHAT: the system's text for `error`, an errno", then `more`, then the
// known remedy: free space, make the folder, or name another file.
// ResourceExhausted if the disk is full.
absl::Status WriteFailure(const std::string& path, const char* what, int error,
                          absl::string_view more = "");

// Makes a folder for files to be written, and those around it. An error has the
// form of WriteFailure.
absl::Status MakeFolder(const std::string& folder);

// Checks that a file can be written at `path`, before the work that produces
// it. Pipes are not checked.
absl::Status CheckWritable(const std::string& path);

}  // namespace partita

#endif  // PARTITA_GRAPH_ATOMIC_FILE_H_
