// Writing, syncing and renaming.
// SPDX-License-Identifier: Apache-2.0

#include "graph/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// More than the kernel writes in one call.
constexpr size_t kMostPerCall = size_t{1} << 30;
constexpr int kMostNames = 100;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::ErrnoToStatusCode(error);
  }
}

bool IsPipe(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

// Empty without a known remedy.
const char* WayOut(const std::string& path, int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there, or name a file on another disk";
    case EFBIG:
      return "; allow larger files, or name one on another disk";
    case ENOENT:
      return "; make the folder, or name a file in another";
    case ENOTDIR:
      return "; name a file in a folder";
    case ENXIO:
      return IsPipe(path) ? "; open it for reading first" : "; name a file";
    case ENAMETOOLONG:
      return "; give it a shorter name";
    case EISDIR:
      return "; name a file in it";
    case EACCES:
    case EPERM:
      return "; name a file in a folder of your own";
    case EROFS:
      return "; name a file on another disk";
    default:
      return "";
  }
}

// A folder that cannot be made.
const char* WayOutOfFolder(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "make room there, or name a folder on another disk";
    case EROFS:
      return "name a folder on another disk";
    case EACCES:
    case EPERM:
      return "name a folder in one of your own";
    case ENAMETOOLONG:
      return "give it a shorter name";
    default:
      return "name another folder";
  }
}

std::string NameBeside(const std::string& path, int attempt) {
  return absl::StrCat(path, ".", getpid(), ".", attempt, ".tmp");
}

std::string ProcPath(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// An existing file can be replaced only by a file with a name of its own.
bool NamesBesideAreTooLong(const std::string& path) {
  struct stat found;
  return lstat(NameBeside(path, kMostNames - 1).c_str(), &found) != 0 &&
         errno == ENAMETOOLONG;
}

// -1 if the file system has no unnamed files, or cannot name them later.
int OpenNameless(const std::string& folder) {
#ifdef O_TMPFILE
  const int fd = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  struct stat found;
  if (stat(ProcPath(fd).c_str(), &found) == 0) return fd;
  close(fd);
#endif
  return -1;
}

constexpr int kMostLinks = 40;  // the limit of Linux

}  // namespace

std::string BehindLinks(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    const std::filesystem::path target =
        std::filesystem::read_symlink(path, error);
    if (error) break;
    path = (std::filesystem::path(FolderOf(path)) / target).string();
  }
  return path;
}

int OpenToWrite(const std::string& path, int flags) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, 0666);
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

absl::Status WriteFailure(const std::string& path, const char* what, int error,
                          absl::string_view more) {
  return absl::Status(CodeOf(error),
                      absl::StrCat(path, ": ", what, ": ", std::strerror(error),
                                   more, WayOut(path, error)));
}

absl::Status AtomicFile::Failure(int error, const char* what) const {
  return WriteFailure(
      path_, what, error,
      replaces_
          ? absl::StrCat("; after ", offset_, " bytes, which are removed again")
          : "");
}

absl::StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(
    const std::string& path) {
  std::unique_ptr<AtomicFile> file(new AtomicFile);
  struct stat found;
  const bool exists = stat(path.c_str(), &found) == 0;
  // Some links of /proc, such as /dev/stdout, have no target name.
  const bool is_file = !exists || S_ISREG(found.st_mode);
  file->path_ = is_file ? BehindLinks(path) : path;
  if (!is_file) {
    file->replaces_ = false;
    file->fd_ = OpenToWrite(path, 0);
    if (file->fd_ >= 0) return file;
    return WriteFailure(path, "cannot be written", errno);
  }
  if (NamesBesideAreTooLong(file->path_)) {
    return WriteFailure(file->path_, "cannot be replaced later", ENAMETOOLONG);
  }
  file->fd_ = OpenNameless(FolderOf(file->path_));
  file->nameless_ = file->fd_ >= 0;
  if (!file->nameless_) PARTITA_RETURN_IF_ERROR(file->OpenNamed());
  return file;
}

absl::Status AtomicFile::OpenNamed() {
  // The name may be in use by another process, or left by a crash.
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    written_path_ = NameBeside(path_, attempt);
    fd_ = open(written_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
               0666);
    if (fd_ >= 0) return absl::OkStatus();
    if (errno != EEXIST) break;
  }
  const int error = errno;
  written_path_.clear();
  return WriteFailure(path_, "cannot be created", error);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!committed_ && !written_path_.empty()) unlink(written_path_.c_str());
}

absl::Status AtomicFile::Write(absl::Span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        write(fd_, bytes.data(), std::min(bytes.size(), kMostPerCall));
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failure(errno, "cannot be written");
    }
    offset_ += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::WriteText(absl::string_view text) {
  return Write({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

absl::Status AtomicFile::PadTo(int64_t offset) {
  static constexpr std::array<std::byte, 4096> kZeros = {};
  while (offset_ < offset) {
    const size_t size = std::min<int64_t>(offset - offset_, kZeros.size());
    PARTITA_RETURN_IF_ERROR(Write(absl::MakeConstSpan(kZeros.data(), size)));
  }
  return absl::OkStatus();
}

// link(2) does not replace files, so only an old file needs a second name.
absl::Status AtomicFile::Link() {
  const std::string nameless = ProcPath(fd_);
  const auto link_to = [&](const std::string& name) {
    return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
  };
  if (link_to(path_)) return absl::OkStatus();
  for (int attempt = 0; errno == EEXIST && attempt < kMostNames; ++attempt) {
    std::string name = NameBeside(path_, attempt);
    if (!link_to(name)) continue;
    written_path_ = std::move(name);
    return absl::OkStatus();
  }
  return Failure(errno, "cannot be given its name");
}

absl::Status AtomicFile::Commit() {
  if (replaces_ && fsync(fd_) != 0) {
    return Failure(errno, "cannot be written to the disk");
  }
  if (nameless_) PARTITA_RETURN_IF_ERROR(Link());
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) return Failure(errno, "cannot be closed");
  if (!replaces_) return absl::OkStatus();
  if (!written_path_.empty() &&
      rename(written_path_.c_str(), path_.c_str()) != 0) {
    return Failure(errno, "cannot be replaced");
  }
  committed_ = true;
  // Syncs the folder, so that the new name survives a crash. Ignores folders
  // that cannot be synced (some network file systems).
  const int folder =
      open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::Status(CodeOf(error.value()),
                      absl::StrCat(folder, ": cannot be made a folder: ",
                                   std::strerror(error.value()), "; ",
                                   WayOutOfFolder(error.value())));
}

absl::Status CheckWritable(const std::string& path) {
  // Closing a pipe would end the input of its reader.
  struct stat found;
  if (stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode)) {
    return absl::OkStatus();
  }
  return AtomicFile::Create(path).status();
}

}  // namespace partita
