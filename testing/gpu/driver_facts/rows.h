// Rows of the table of facts, as JSON and as text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_ROWS_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/gpu/driver_facts/fact.h"

namespace partita {

struct Row {
  std::string id;
  std::string rule;
  std::string source;
  std::string expected;
  Reading reading;
};

Row RowOf(const Fact& fact, Reading reading);
Reading Unmeasured(std::string why);

const char* VerdictName(FactVerdict verdict);

// One line of JSON without its end.
std::string RowJson(const Row& row);
absl::StatusOr<Row> ParseRow(const std::string& line);

// {"program": "driver_facts", "seconds": .., "rows": [..]}
std::string TableJson(const std::vector<Row>& rows, double seconds);

// One line a row, FAIL and UNMEASURED last, and their counts.
std::string TableText(const std::vector<Row>& rows);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_ROWS_H_
