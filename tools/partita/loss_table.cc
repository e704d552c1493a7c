// Rows of a CSV file.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/loss_table.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": cannot be written: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<LossTable> LossTable::Create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return CannotWrite(path, errno);
  LossTable table(path, file);
  absl::FPrintF(file, "step,epoch,loss,seconds\n");
  PARTITA_RETURN_IF_ERROR(table.Flush());
  return table;
}

absl::Status LossTable::Add(int64_t step, int64_t epoch, double loss,
                            double seconds) {
  const int written = absl::FPrintF(file_.get(), "%d,%d,%.9g,%.6f\n", step,
                                    epoch, loss, seconds);
  return written < 0 ? CannotWrite(path_, errno) : absl::OkStatus();
}

absl::Status LossTable::Flush() {
  if (std::fflush(file_.get()) == 0) return absl::OkStatus();
  return CannotWrite(path_, errno);
}

}  // namespace partita
