// Converts rows of cells to arrays of numbers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/csv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "graph/utf8.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/csv_rows.h"
#include "runtime/tensor_file/bad_file.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {
namespace {

constexpr size_t kMaxShown = 40;         // characters of a found cell
constexpr double kMaxExact = 1LL << 53;  // a double holds all integers up to it

std::string Shown(absl::string_view text) {
  return absl::StrCat("\"", text.substr(0, kMaxShown),
                      text.size() > kMaxShown ? "..." : "", "\"");
}

// Cuts between characters, not inside one.
std::string ShortName(absl::string_view name) {
  absl::string_view rest = name;
  size_t characters = 0;
  while (!rest.empty() && characters < kMaxShown) {
    if (!TakeCodePoint(rest).has_value()) rest.remove_prefix(1);
    ++characters;
  }
  const absl::string_view shown = name.substr(0, name.size() - rest.size());
  return absl::StrCat(absl::Utf8SafeCHexEscape(shown),
                      rest.empty() ? "" : "...");
}

// Other CSV readers do not accept hexadecimal numbers.
bool HasX(absl::string_view text) {
  return text.find_first_of("xX") != absl::string_view::npos;
}

// An integer, perhaps written with a fraction of 0.
bool ParseLabel(absl::string_view text, int64_t& label) {
  if (absl::SimpleAtoi(text, &label)) return true;
  double number;
  if (HasX(text) || !absl::SimpleAtod(text, &number) ||
      std::abs(number) > kMaxExact || number != std::floor(number)) {
    return false;
  }
  label = static_cast<int64_t>(number);
  return true;
}

bool ParseFinite(absl::string_view text, float& number) {
  return !HasX(text) && absl::SimpleAtof(text, &number) &&
         std::isfinite(number);
}

// True if the cell may be a column's name.
bool IsName(const CsvCell& cell) {
  float number;
  return !ParseFinite(cell.text, number);
}

// True if the cell may be a class; infinities and NaN may not.
bool IsWord(const CsvCell& cell) {
  double number;
  return !cell.text.empty() &&
         (HasX(cell.text) || !absl::SimpleAtod(cell.text, &number));
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    if (!TakeCodePoint(text).has_value()) return false;
  }
  return true;
}

// "one of a, b, c, as in the first table", with at most kMost words.
std::string ListOf(const std::vector<std::string>& words) {
  constexpr size_t kMost = 10;
  const size_t shown = std::min(words.size(), kMost);
  return absl::StrCat(
      "one of ", absl::StrJoin(words.begin(), words.begin() + shown, ", "),
      shown < words.size() ? ", ..." : "", ", as in the first table");
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
  absl::StatusOr<bool> NamesColumns(const std::vector<CsvCell>& row) const;
  absl::Status FindLabel();
  const char* LineEndHint() const;
  absl::Status AddRow(const std::vector<CsvCell>& row);
  absl::Status AddLabel(const CsvCell& cell);
  absl::Status AddWholeLabel(const CsvCell& cell);
  absl::Status AddWord(const CsvCell& cell);
  void SortWords();
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
  bool has_words_ = false;                // labels are words
  std::map<std::string, int64_t> words_;  // the words and their labels
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
  if (samples_ == 0) {
    return BadFile(source_, "no row of numbers", "one or more", LineEndHint());
  }
  if (options_.known_words.empty()) SortWords();
  return Arrays();
}

absl::Status CsvTable::ReadFirst(std::vector<CsvCell>& row) {
  columns_ = row.size();
  first_line_ = row[0].line;
  if (options_.header.has_value()) {
    has_header_ = *options_.header;
  } else {
    PARTITA_ASSIGN_OR_RETURN(has_header_, NamesColumns(row));
  }
  if (has_header_) {
    for (CsvCell& cell : row) names_.push_back(std::move(cell.text));
  }
  label_ = columns_;
  return options_.label.empty() ? absl::OkStatus() : FindLabel();
}

// A column given by name implies a header. If a column of words is given by
// number, the first row may hold a word in it: the other cells decide.
absl::StatusOr<bool> CsvTable::NamesColumns(
    const std::vector<CsvCell>& row) const {
  size_t number = 0;
  const bool by_number = absl::SimpleAtoi(options_.label, &number);
  if (!options_.label.empty() && !by_number) return true;
  std::optional<size_t> name, value;
  for (size_t i = row.size(); i-- > 0;) {
    const bool may_be_word = options_.label_words && i + 1 == number;
    if (may_be_word && row.size() > 1) continue;
    (IsName(row[i]) ? name : value) = i;
  }
  if (!name.has_value() || !value.has_value()) return name.has_value();
  return BadFile(
      absl::StrCat(rows_.PlaceOf(row[*name]), ": the first row"),
      absl::StrCat(Shown(row[*name].text), " beside ", Shown(row[*value].text)),
      "finite numbers, or the names of all columns",
      "correct the cell, or give the label's column by its name");
}

absl::Status CsvTable::FindLabel() {
  const auto name = absl::c_find(names_, options_.label);
  if (name != names_.end()) {
    label_ = name - names_.begin();
    if (absl::c_count(names_, options_.label) == 1) return absl::OkStatus();
    return BadFile(source_, absl::StrCat("several columns ", options_.label),
                   "one", "give the label's column by its number, from 1");
  }
  size_t number;
  if (absl::SimpleAtoi(options_.label, &number) && number >= 1 &&
      number <= columns_) {
    label_ = number - 1;
    return absl::OkStatus();
  }
  return BadFile(source_, absl::StrCat("no column ", options_.label),
                 absl::StrCat(names_.empty() ? "" : "one of ",
                              ColumnList(names_), names_.empty() ? "" : ", or ",
                              "a number from 1 to ", columns_),
                 LineEndHint());
}

// Text with old Mac line ends is a single line, and all of it is the header.
const char* CsvTable::LineEndHint() const {
  const bool has_returns = absl::c_any_of(names_, [](absl::string_view name) {
    return absl::StrContains(name, '\r');
  });
  return has_returns ? "end lines with a line feed; carriage returns (\\r) "
                       "alone do not end lines"
                     : "";
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
  if (samples_ == 1 && options_.label_words) {
    has_words_ = !options_.known_words.empty() || IsWord(cell);
  }
  return has_words_ ? AddWord(cell) : AddWholeLabel(cell);
}

absl::Status CsvTable::AddWholeLabel(const CsvCell& cell) {
  int64_t label;
  if (!ParseLabel(cell.text, label)) {
    return BadCell(cell, label_, "a whole number as the label");
  }
  whole_labels_.push_back(label);
  return absl::OkStatus();
}

// Numbers words in the order of appearance, until all are known.
absl::Status CsvTable::AddWord(const CsvCell& cell) {
  if (options_.known_words.empty() && !IsWord(cell)) {
    return BadCell(cell, label_, "a word as the label, as in the rows before");
  }
  if (!IsUtf8(cell.text)) return BadCell(cell, label_, "a word in UTF-8");
  const auto [word, is_new] =
      words_.try_emplace(cell.text, static_cast<int64_t>(words_.size()));
  if (is_new && !options_.known_words.empty()) {
    const auto known = absl::c_find(options_.known_words, cell.text);
    if (known == options_.known_words.end()) {
      return BadCell(cell, label_, ListOf(options_.known_words));
    }
    word->second = known - options_.known_words.begin();
  }
  whole_labels_.push_back(word->second);
  return absl::OkStatus();
}

void CsvTable::SortWords() {
  std::vector<int64_t> places(words_.size());
  int64_t place = 0;
  for (const auto& [word, label] : words_) places[label] = place++;
  if (!has_words_) return;
  for (int64_t& label : whole_labels_) label = places[label];
}

absl::Status CsvTable::BadCell(const CsvCell& cell, size_t column,
                               absl::string_view expected) const {
  const std::string name =
      names_.empty() ? absl::StrCat("column ", column + 1)
                     : absl::StrCat("column ", ShortName(names_[column]));
  // Mostly in the first row, which may be an unannounced header.
  const bool first = cell.line == first_line_ && !has_header_;
  return BadFile(
      absl::StrCat(rows_.PlaceOf(cell), ": ", name), Shown(cell.text), expected,
      first ? "if this row names the columns, give the label's column by its "
              "name, or state that the file has a header"
            : "");
}

CsvArrays CsvTable::Arrays() {
  const int64_t width =
      static_cast<int64_t>(columns_) - (label_ < columns_ ? 1 : 0);
  CsvArrays arrays;
  arrays.features = ArrayOf(std::move(features_), {samples_, width}, source_);
  arrays.feature_names = names_;
  if (label_ == columns_) return arrays;
  if (has_header_) {
    arrays.feature_names.erase(arrays.feature_names.begin() +
                               static_cast<std::ptrdiff_t>(label_));
  }
  arrays.labels = options_.label_dtype == DType::kF32
                      ? ArrayOf(std::move(float_labels_), {samples_}, source_)
                      : ArrayOf(std::move(whole_labels_), {samples_}, source_);
  arrays.words = options_.known_words;
  if (!arrays.words.empty()) return arrays;
  for (const auto& [word, label] : words_) arrays.words.push_back(word);
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
    return BadFile(file.source, "no column besides the label's", "one or more");
  }
  std::vector<FieldArray> arrays;
  arrays.push_back({options.features_field, std::move(parsed.features)});
  if (parsed.labels.has_value()) {
    arrays.push_back({options.label_field, *std::move(parsed.labels)});
  }
  return ArrayDataset(std::move(arrays));
}

absl::StatusOr<CsvArrays> OpenCsvArrays(const std::string& path,
                                        const CsvOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  return ParseArrays(file, options);
}

std::string ColumnList(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  const size_t shown = std::min(names.size(), kMost);
  return absl::StrCat(
      absl::StrJoin(names.begin(), names.begin() + shown, ", ",
                    [](std::string* text, const std::string& name) {
                      absl::StrAppend(text, ShortName(name));
                    }),
      shown < names.size() ? ", ..." : "");
}

}  // namespace partita
