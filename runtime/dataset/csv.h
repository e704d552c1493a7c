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
  // Whether the first row names the columns; none: if the label's column is
  // told by its name, or if none of its cells, but for labels that may be
  // words, is a finite number. One that mixes both is an error.
  std::optional<bool> header = true;
  char delimiter = ',';
  // The column of labels, by name or by its number from 1; empty: none.
  std::string label;
  DType label_dtype = DType::kI64;  // or f32
  // Labels of i64 may be words, which numbers are not: if the first is one all
  // are, and a word's number is its place among them all, in the order of their
  // bytes.
  bool label_words = false;
  // Where the words of another table are given: a label is one of these, and
  // has its place among them.
  std::vector<std::string> known_words;
  std::string features_field = "x";
  std::string label_field = "y";
};

// A sample a row: all columns but the label's as one field f32[columns], and
// the label as a scalar. Every cell is a finite number, quoted or not, rounded
// once, but for labels that are words; empty lines are skipped. Messages begin
// with `file:line:column`. Needs memory in proportion to the text. Any bytes
// are safe.
absl::StatusOr<SharedDataset> ParseCsv(const FileBytes& file,
                                       const CsvOptions& options);

// The same as arrays, of which there may be no features.
struct CsvArrays {
  FileTensor features;                     // f32[samples, columns]
  std::vector<std::string> feature_names;  // by column; none: no header
  std::optional<FileTensor> labels;
  std::vector<std::string> words;  // by label; none: labels are numbers
};
absl::StatusOr<CsvArrays> OpenCsvArrays(const std::string& path,
                                        const CsvOptions& options);

// Names of columns for a message, "a, b, c": the first ten, of each the first
// 40 characters, without what moves a cursor.
std::string ColumnList(const std::vector<std::string>& names);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DATASET_CSV_H_
