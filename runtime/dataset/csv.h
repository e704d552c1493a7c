// Tables of numbers as text (RFC 4180).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DATASET_CSV_H_
#define PARTITA_RUNTIME_DATASET_CSV_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "runtime/dataset/dataset.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

struct CsvOptions {
  // True if the first row names the columns. Unset: there is a header if the
  // label's column is given by name, or if no cell of the first row is a finite
  // number, except labels that may be words. A row that mixes both is an error.
  std::optional<bool> header = true;
  char delimiter = ',';
  // The column of labels, by name or by number from 1; empty: none.
  std::string label;
  DType label_dtype = DType::kI64;  // or f32
  // Labels of i64 may be words, which are not numbers: if the first label is a
  // word, all must be. The number of a word is its position among all words, in
  // the order of their bytes.
  bool label_words = false;
  // The words of another table, if given: each label must be one of these, and
  // its number is the position among them.
  std::vector<std::string> known_words;
  std::string features_field = "x";
  std::string label_field = "y";
};

// One sample for each row: all columns except the label's as one field
// f32[columns], and the label as a scalar. Every cell is a finite number,
// quoted or not, rounded once, except labels that are words. Skips empty lines.
// Messages begin with `file:line:column`. Needs memory proportional to the
// text. Any bytes are safe.
absl::StatusOr<SharedDataset> ParseCsv(const FileBytes& file,
                                       const CsvOptions& options);

// The same as arrays; there may be no features.
struct CsvArrays {
  FileTensor features;                     // f32[samples, columns]
  std::vector<std::string> feature_names;  // by column; empty: no header
  std::optional<FileTensor> labels;
  std::vector<std::string> words;  // by label; empty: labels are numbers
};
absl::StatusOr<CsvArrays> OpenCsvArrays(const std::string& path,
                                        const CsvOptions& options);

// Names of columns for a message, "a, b, c": the first ten names, each cut to
// 40 characters, with control characters escaped.
std::string ColumnList(const std::vector<std::string>& names);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_CSV_H_
