// Rows of cells as arrays of numbers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/csv.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/csv_rows.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

constexpr size_t kMaxShown = 40;         // characters of a found cell
constexpr double kMaxExact = 1LL << 53;  // a double holds the integers up to it

std::string Shown(absl::string_view text) {
  return absl::StrCat("\"", text.substr(0, kMaxShown),
                      text.size() > kMaxShown ? "..." : "", "\"");
}

// An integer, perhaps written as one with a fraction of 0.
bool ParseLabel(absl::string_view text, int64_t& label) {
  if (absl::SimpleAtoi(text, &label)) return true;
  double number;
  if (!absl::SimpleAtod(text, &number) || std::abs(number) > kMaxExact ||
      number != std::floor(number)) {
    return false;
  }
  label = static_cast<int64_t>(number);
  return true;
}

bool ParseFinite(absl::string_view text, float& number) {
  return absl::SimpleAtof(text, &number) && std::isfinite(number);
}

bool HasWord(const std::vector<CsvCell>& row) {
  float number;
  return absl::c_any_of(row, [&](const CsvCell& cell) {
    return !ParseFinite(cell.text, number);
  });
}

template <typename T>
FileTensor ArrayOf(std::vector<T> values, Shape dims, std::string source) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const absl::Span<const std::byte> bytes(
      reinterpret_cast<const std::byte*>(owner->data()),
      owner->size() * sizeof(T));
  return {{DTypeOf<T>(), std::move(dims), {}},
          {std::move(source), bytes, std::move(owner)}};
}

class CsvTable {
 public:
  CsvTable(const FileBytes& file, const CsvOptions& options)
      : source_(file.source),
        options_(options),
        rows_({reinterpret_cast<const char*>(file.bytes.data()),
               file.bytes.size()},
              file.source, options.delimiter) {}

  absl::StatusOr<CsvArrays> Read();

 private:
  absl::Status ReadFirst(std::vector<CsvCell>& row);
  absl::Status FindLabel();
  absl::Status AddRow(const std::vector<CsvCell>& row);
  absl::Status AddLabel(const CsvCell& cell);
  absl::Status BadCell(const CsvCell& cell, size_t column,
                       absl::string_view expected) const;
  CsvArrays Arrays();

  const std::string source_;
  const CsvOptions& options_;
  CsvRows rows_;
  bool has_header_ = false;
  std::vector<std::string> names_;  // of the columns, if there is a header
  size_t columns_ = 0;
  int64_t first_line_ = 0;
  size_t label_ = 0;  // a column; columns_: none
  int64_t samples_ = 0;
  std::vector<float> features_;
  std::vector<int64_t> whole_labels_;
  std::vector<float> float_labels_;
};

absl::StatusOr<CsvArrays> CsvTable::Read() {
  std::vector<CsvCell> row;
  PARTITA_ASSIGN_OR_RETURN(bool more, rows_.Next(row));
  if (!more) return BadFile(source_, "no row", "one or more");
  PARTITA_RETURN_IF_ERROR(ReadFirst(row));
  if (has_header_) {
    PARTITA_ASSIGN_OR_RETURN(more, rows_.Next(row));
  }
  while (more) {
    PARTITA_RETURN_IF_ERROR(AddRow(row));
    PARTITA_ASSIGN_OR_RETURN(more, rows_.Next(row));
  }
  if (samples_ == 0)
    return BadFile(source_, "no row of numbers", "one or more");
  return Arrays();
}

absl::Status CsvTable::ReadFirst(std::vector<CsvCell>& row) {
  columns_ = row.size();
  first_line_ = row[0].line;
  has_header_ = options_.header.value_or(HasWord(row));
  if (has_header_) {
    for (CsvCell& cell : row) names_.push_back(std::move(cell.text));
  }
  label_ = columns_;
  return options_.label.empty() ? absl::OkStatus() : FindLabel();
}

absl::Status CsvTable::FindLabel() {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] != options_.label) continue;
    label_ = i;
    return absl::OkStatus();
  }
  size_t number;
  if (absl::SimpleAtoi(options_.label, &number) && number >= 1 &&
      number <= columns_) {
    label_ = number - 1;
    return absl::OkStatus();
  }
  return BadFile(
      source_, absl::StrCat("no column ", options_.label),
      absl::StrCat(names_.empty() ? "" : "one of ", absl::StrJoin(names_, ", "),
                   names_.empty() ? "" : ", or ", "a number from 1 to ",
                   columns_));
}

absl::Status CsvTable::AddRow(const std::vector<CsvCell>& row) {
  if (row.size() != columns_) {
    return BadFile(absl::StrCat(source_, ":", row[0].line),
                   absl::StrCat(row.size(), " cells"),
                   absl::StrCat(columns_, ", as in line ", first_line_),
                   "a delimiter inside a cell needs quotes around the cell");
  }
  ++samples_;
  for (size_t i = 0; i < columns_; ++i) {
    if (i == label_) {
      PARTITA_RETURN_IF_ERROR(AddLabel(row[i]));
      continue;
    }
    float number;
    if (!ParseFinite(row[i].text, number)) {
      return BadCell(row[i], i, "a finite number");
    }
    features_.push_back(number);
  }
  return absl::OkStatus();
}

absl::Status CsvTable::AddLabel(const CsvCell& cell) {
  if (options_.label_dtype == DType::kF32) {
    float number;
    if (!ParseFinite(cell.text, number)) {
      return BadCell(cell, label_, "a finite number");
    }
    float_labels_.push_back(number);
    return absl::OkStatus();
  }
  int64_t label;
  if (!ParseLabel(cell.text, label)) {
    return BadCell(cell, label_, "a whole number as the label");
  }
  whole_labels_.push_back(label);
  return absl::OkStatus();
}

absl::Status CsvTable::BadCell(const CsvCell& cell, size_t column,
                               absl::string_view expected) const {
  const std::string name = names_.empty()
                               ? absl::StrCat("column ", column + 1)
                               : absl::StrCat("column ", names_[column]);
  // Above all in the first row, which may be a header that nobody announced.
  const bool first = cell.line == first_line_ && !has_header_;
  return BadFile(absl::StrCat(rows_.PlaceOf(cell), ": ", name),
                 Shown(cell.text), expected,
                 first ? "if this row names the columns, say that the file "
                         "has a header"
                       : "");
}

CsvArrays CsvTable::Arrays() {
  const int64_t width =
      static_cast<int64_t>(columns_) - (label_ < columns_ ? 1 : 0);
  CsvArrays arrays = {ArrayOf(std::move(features_), {samples_, width}, source_),
                      std::nullopt};
  if (label_ == columns_) return arrays;
  arrays.labels = options_.label_dtype == DType::kF32
                      ? ArrayOf(std::move(float_labels_), {samples_}, source_)
                      : ArrayOf(std::move(whole_labels_), {samples_}, source_);
  return arrays;
}

absl::Status CheckOptions(const CsvOptions& options) {
  if (options.label_dtype != DType::kI64 &&
      options.label_dtype != DType::kF32) {
    return BadFile("csv options",
                   absl::StrCat("label dtype ", DTypeName(options.label_dtype)),
                   "i64 or f32");
  }
  const char d = options.delimiter;
  if (d != '"' && d != '\n' && d != '\r') return absl::OkStatus();
  return BadFile("csv options", "a quote or line end as the delimiter",
                 "another character");
}

absl::StatusOr<CsvArrays> ParseArrays(const FileBytes& file,
                                      const CsvOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckOptions(options));
  return CsvTable(file, options).Read();
}

}  // namespace

absl::StatusOr<SharedDataset> ParseCsv(const FileBytes& file,
                                       const CsvOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(CsvArrays parsed, ParseArrays(file, options));
  if (parsed.features.type.dims[1] == 0) {
    return BadFile(file.source, "no column beside the label's", "one or more");
  }
  std::vector<FieldArray> arrays;
  arrays.push_back({options.features_field, std::move(parsed.features)});
  if (parsed.labels.has_value()) {
    arrays.push_back({options.label_field, *std::move(parsed.labels)});
  }
  return ArrayDataset(std::move(arrays));
}

absl::StatusOr<SharedDataset> OpenCsv(const std::string& path,
                                      const CsvOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  return ParseCsv(file, options);
}

absl::StatusOr<CsvArrays> OpenCsvArrays(const std::string& path,
                                        const CsvOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  return ParseArrays(file, options);
}

}  // namespace partita
