// How many drafts a second the search estimates, a draft a row:
// docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tests/bench/plans/row_bench.h"
#include "tests/bench/plans/search_speed.h"

namespace partita {
namespace {

absl::StatusOr<RowTable> Open(const Arguments&) {
  RowTable table{.columns = kSpeedColumns};
  absl::flat_hash_map<std::string, SpeedCase> cases;
  for (const SpeedCase& speed_case : SpeedCases()) {
    table.keys.push_back(speed_case.key());
    cases.emplace(speed_case.key(), speed_case);
  }
  table.measure = [cases = std::move(cases)](
                      const std::string& key) -> absl::StatusOr<RowCells> {
    return SpeedRow(cases.at(key));
  };
  return table;
}

constexpr RowBench kBench = {
    .name = "search_speed_bench",
    .doc = "Times estimates of the moves of a draft, as the search makes them.",
    .flags = {},
    .open = Open,
};

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::RunRowBench(partita::kBench, argc, argv);
}
