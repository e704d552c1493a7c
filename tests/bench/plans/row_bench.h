// The command line of a benchmark whose results are rows of a table.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_ROW_BENCH_H_
#define PARTITA_TESTS_BENCH_PLANS_ROW_BENCH_H_

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/options/arguments.h"

namespace partita {

using RowCells = std::vector<std::string>;

// What a benchmark can measure. Keys name the rows, and a row can be measured
// without the others, so a run that ended early goes on where it was.
struct RowTable {
  RowCells columns;  // after the first one, "key"
  std::vector<std::string> keys;
  // A cell for each column. An error ends the benchmark; a row without a result
  // says so in its cells.
  std::function<absl::StatusOr<RowCells>(const std::string& key)> measure;
};

struct RowBench {
  const char* name;
  const char* doc;                  // for --help
  absl::Span<const FlagDef> flags;  // its own
  absl::StatusOr<RowTable> (*open)(const Arguments& arguments);
};

// Prints the header, then each row as soon as it is measured: cells between
// tabs, with a space for each tab or line end within one. NotFound, before
// anything is measured, for a key that the table lacks.
absl::Status PrintRows(const RowTable& table,
                       absl::Span<const std::string> keys, std::ostream& out);

// NAME [FLAGS] KEY... prints the rows of these keys, NAME --keys all keys,
// NAME --help the usage. The exit code: 0, 1 after an error, 2 for a wrong
// call.
int RunRowBench(const RowBench& bench, int argc, char** argv);

// Of a table, "12.345678"; nothing for no value.
std::string Microseconds(std::optional<double> seconds);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_ROW_BENCH_H_
