// Splits the text of a table into rows of cells.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_CSV_ROWS_H_
#define PARTITA_RUNTIME_DATASET_CSV_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace partita {

struct CsvCell {
  std::string text;  // without quotes and surrounding spaces
  int64_t line = 0;  // of its first character, from 1
  int64_t column = 0;
};

// Lines end with \n, \r\n or the end of the text. A quoted cell may hold
// delimiters, line ends and doubled quotes.
class CsvRows {
 public:
  CsvRows(absl::string_view text, std::string source, char delimiter);

  // Reads the next row that is not empty into `row`; false at the end of the
  // text.
  absl::StatusOr<bool> Next(std::vector<CsvCell>& row);

  // `file:line:column`.
  std::string PlaceOf(const CsvCell& cell) const;

 private:
  bool AtLineEnd() const;
  char Take();
  void TakeLineEnd();
  absl::Status ReadRow(std::vector<CsvCell>& row);
  absl::Status ReadCell(CsvCell& cell);
  absl::Status ReadQuoted(CsvCell& cell);

  const absl::string_view text_;
  const std::string source_;
  const char delimiter_;
  size_t at_ = 0;
  int64_t line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_CSV_ROWS_H_
