// How far `auto` is from the best placement, a random problem a row:
// docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "placement/machine/machine.h"
#include "tests/bench/plans/quality.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"first-seed", "N", "seed of the first problem (default 1)"},
    {"write", "FOLDER",
     "also write each problem as whole-17.graph and whole-17.json, for partita "
     "compile --machine"},
};
constexpr int64_t kMostSeed = std::numeric_limits<int32_t>::max();

absl::Status WriteFile(const std::string& path, absl::string_view text) {
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(text));
  return file->Commit();
}

absl::Status WriteProblem(const std::string& folder, const std::string& key,
                          const PlacementProblem& problem) {
  const std::string stem =
      absl::StrCat(folder, "/", absl::StrReplaceAll(key, {{"/", "-"}}));
  PARTITA_RETURN_IF_ERROR(
      WriteFile(absl::StrCat(stem, ".graph"), PrintModule(problem.module)));
  return WriteFile(absl::StrCat(stem, ".json"), MachineToJson(problem.machine));
}

absl::StatusOr<RowTable> Open(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t first_seed,
                           arguments.GetInt("first-seed", 1, 0, kMostSeed));
  const std::string folder = arguments.Get("write", "");
  RowTable table{.columns = kQualityColumns};
  absl::flat_hash_map<std::string, QualityCase> cases;
  for (const QualityCase& problem_case : QualityCases(first_seed)) {
    table.keys.push_back(problem_case.key());
    cases.emplace(problem_case.key(), problem_case);
  }
  table.measure = [cases = std::move(cases),
                   folder](const std::string& key) -> absl::StatusOr<RowCells> {
    const QualityCase& problem_case = cases.at(key);
    const PlacementProblem problem = ProblemOf(problem_case);
    if (!folder.empty()) {
      PARTITA_RETURN_IF_ERROR(WriteProblem(folder, key, problem));
    }
    return QualityRow(problem_case, problem);
  };
  return table;
}

constexpr RowBench kBench = {
    .name = "quality_bench",
    .doc =
        "Predicts the step of auto and of all placements of random graphs on "
        "random\nmachines. whole/SEED: each node whole on one device; "
        "split/SEED: smaller graphs,\nwhose nodes may also be split or "
        "computed on several devices.",
    .flags = kFlags,
    .open = Open,
};

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::RunRowBench(partita::kBench, argc, argv);
}
