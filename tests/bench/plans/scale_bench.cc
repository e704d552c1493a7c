// How planning grows with nodes and devices, a compilation a row:
// docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/status_macros.h"
#include "tests/bench/plans/row_bench.h"
#include "tests/bench/plans/scale.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"limit", "SECONDS",
     "a compilation that takes longer is ended (default 600)"},
    {"stages", nullptr, "also print the seconds of each stage, to stderr"},
};

absl::StatusOr<RowTable> Open(const Arguments& arguments) {
  ScaleRun how{.prints_stages = arguments.has("stages")};
  PARTITA_ASSIGN_OR_RETURN(how.limit_seconds,
                           arguments.GetInt("limit", 600, 1, 1'000'000));
  RowTable table{.columns = kScaleColumns};
  absl::flat_hash_map<std::string, ScaleCase> cases;
  for (const ScaleCase& scale_case : ScaleCases()) {
    table.keys.push_back(scale_case.key());
    cases.emplace(scale_case.key(), scale_case);
  }
  table.measure = [cases = std::move(cases),
                   how](const std::string& key) -> absl::StatusOr<RowCells> {
    return ScaleRow(cases.at(key), how);
  };
  return table;
}

constexpr RowBench kBench = {
    .name = "scale_bench",
    .doc =
        "Times compilations of growing graphs for growing machines, each in a "
        "process of its\nown with its peak memory.",
    .flags = kFlags,
    .open = Open,
};

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::RunRowBench(partita::kBench, argc, argv);
}
