// One pass over the text, character by character.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/csv_rows.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

CsvRows::CsvRows(absl::string_view text, std::string source, char delimiter)
    : text_(text), source_(std::move(source)), delimiter_(delimiter) {
  if (absl::StartsWith(text_, kByteOrderMark)) at_ = kByteOrderMark.size();
  line_start_ = at_;
}

std::string CsvRows::PlaceOf(const CsvCell& cell) const {
  return absl::StrCat(source_, ":", cell.line, ":", cell.column);
}

bool CsvRows::AtLineEnd() const {
  if (at_ == text_.size() || text_[at_] == '\n') return true;
  return absl::StartsWith(text_.substr(at_), "\r\n");
}

char CsvRows::Take() {
  const char c = text_[at_++];
  if (c == '\n') {
    ++line_;
    line_start_ = at_;
  }
  return c;
}

void CsvRows::TakeLineEnd() {
  if (at_ < text_.size() && Take() == '\r') Take();
}

absl::StatusOr<bool> CsvRows::Next(std::vector<CsvCell>& row) {
  while (at_ < text_.size()) {
    if (!AtLineEnd()) {
      PARTITA_RETURN_IF_ERROR(ReadRow(row));
      return true;
    }
    TakeLineEnd();
  }
  return false;
}

// Reuses the memory of the cells that `row` already has.
absl::Status CsvRows::ReadRow(std::vector<CsvCell>& row) {
  size_t cells = 0;
  while (true) {
    if (row.size() == cells) row.emplace_back();
    PARTITA_RETURN_IF_ERROR(ReadCell(row[cells++]));
    if (AtLineEnd()) break;
    Take();  // the delimiter
  }
  row.resize(cells);
  TakeLineEnd();
  return absl::OkStatus();
}

absl::Status CsvRows::ReadCell(CsvCell& cell) {
  while (!AtLineEnd() && text_[at_] != delimiter_ && IsBlank(text_[at_])) {
    Take();
  }
  cell.line = line_;
  cell.column = static_cast<int64_t>(at_ - line_start_) + 1;
  cell.text.clear();
  if (!AtLineEnd() && text_[at_] == '"') return ReadQuoted(cell);
  const size_t begin = at_;
  // The hot loop. A \r before the \n is removed below.
  while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n') {
    ++at_;
  }
  const absl::string_view found =
      absl::StripTrailingAsciiWhitespace(text_.substr(begin, at_ - begin));
  cell.text.assign(found.data(), found.size());
  return absl::OkStatus();
}

absl::Status CsvRows::ReadQuoted(CsvCell& cell) {
  Take();
  while (true) {
    if (at_ == text_.size()) {
      return BadFile(PlaceOf(cell), "a quote that is never closed",
                     "one at the cell's end");
    }
    const char c = Take();
    if (c != '"') {
      cell.text.push_back(c);
    } else if (at_ < text_.size() && text_[at_] == '"') {
      cell.text.push_back(Take());
    } else {
      break;
    }
  }
  while (!AtLineEnd() && text_[at_] != delimiter_) {
    if (!IsBlank(Take())) {
      return BadFile(PlaceOf(cell), "characters after a closing quote",
                     "the delimiter or the end of the line",
                     "write a quote inside quotes twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
