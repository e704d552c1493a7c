// Rows of a CSV file.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/loss_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "partita/train/training_record.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr absl::string_view kHead = "step,epoch,loss,seconds\n";

absl::Status NoTable(const std::string& path, int64_t line,
                     absl::string_view expected) {
  return BadFile(absl::StrCat(path, ":", line), "another line", expected,
                 "name the table that the training wrote, or a new file");
}

// Bytes of the header and of the rows of the first `steps` steps, which are in
// ascending order. Excludes a last line that was not written whole.
absl::StatusOr<uintmax_t> SizeOfSteps(const std::string& path, int64_t steps) {
  std::ifstream file(path);
  if (!file.is_open()) return WriteFailure(path, "cannot be read", errno);
  std::string text;
  if (!std::getline(file, text) || file.eof() ||
      absl::StrCat(text, "\n") != kHead) {
    return NoTable(path, 1, absl::StripTrailingAsciiWhitespace(kHead));
  }
  uintmax_t size = text.size() + 1;
  for (int64_t line = 2; std::getline(file, text) && !file.eof(); ++line) {
    int64_t step;
    if (!absl::SimpleAtoi(text.substr(0, text.find(',')), &step)) {
      return NoTable(path, line, "a row that begins with a step");
    }
    if (step > steps) break;
    size += text.size() + 1;
  }
  return size;
}

bool IsDeviceOrPipe(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) &&
         !std::filesystem::is_regular_file(path, error);
}

absl::Status WriteHead(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(kHead));
  return file->Commit();
}

}  // namespace

absl::StatusOr<LossTable> LossTable::Open(const std::string& path,
                                          uintmax_t size) {
  const int fd = OpenToWrite(path, O_APPEND);
  std::FILE* file = fd < 0 ? nullptr : fdopen(fd, "a");
  if (file == nullptr) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return WriteFailure(path, "cannot be written", error);
  }
  // A row is written whole, or a part of it that can be truncated.
  std::setvbuf(file, nullptr, _IONBF, 0);
  return LossTable(path, file, static_cast<off_t>(size));
}

absl::StatusOr<LossTable> LossTable::Create(const std::string& path) {
  if (!IsDeviceOrPipe(path)) {
    PARTITA_RETURN_IF_ERROR(WriteHead(path));
    return Open(path, kHead.size());
  }
  PARTITA_ASSIGN_OR_RETURN(LossTable table, Open(path, 0));
  PARTITA_RETURN_IF_ERROR(table.Write(kHead));
  return table;
}

absl::StatusOr<LossTable> LossTable::Continue(const std::string& path,
                                              int64_t steps) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(path, error);
  if (!is_file || std::filesystem::is_empty(path, error)) return Create(path);
  PARTITA_ASSIGN_OR_RETURN(const uintmax_t size, SizeOfSteps(path, steps));
  std::filesystem::resize_file(path, size, error);
  if (error) return WriteFailure(path, "cannot be written", error.value());
  return Open(path, size);
}

absl::Status LossTable::Add(int64_t step, int64_t epoch, double loss,
                            double seconds) {
  return Write(absl::StrFormat("%d,%d,%.9g,%.6f\n", step, epoch,
                               WithoutSignOfNan(loss), seconds));
}

absl::Status LossTable::Write(absl::string_view row) {
  if (std::fwrite(row.data(), 1, row.size(), file_.get()) == row.size()) {
    size_ += static_cast<off_t>(row.size());
    return absl::OkStatus();
  }
  const int error = errno;
  // A pipe, for example, has no length.
  std::ignore = ftruncate(fileno(file_.get()), size_);
  return WriteFailure(path_, "cannot be written", error);
}

}  // namespace partita
