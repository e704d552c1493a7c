// What users could choose in place of `auto`, a rival a row:
// docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/machine/machine.h"
#include "tests/bench/plans/rivals.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"root", "FOLDER", "the source tree (default: the current folder)"},
    {"only", "TEXT", "only the models whose name contains TEXT"},
};

// A model, a machine, and what auto makes of them, which many rows need.
struct Contest {
  const absl::StatusOr<PlannedStep>& ByAuto() {
    if (!by_auto.has_value()) by_auto = PlanStep(*module, machine, {});
    return *by_auto;
  }

  std::string model_name;
  std::string machine_name;
  std::shared_ptr<const Module> module;
  Machine machine;
  std::optional<absl::StatusOr<PlannedStep>> by_auto;
};

std::string StepCell(const absl::StatusOr<PlannedStep>& step) {
  return step.ok() ? Microseconds(step->seconds) : "";
}

struct ContestRow {
  std::shared_ptr<Contest> contest;
  Rival rival;
};

class Contests {
 public:
  absl::Status Add(const BenchmarkModel& model, const std::string& root) {
    PARTITA_ASSIGN_OR_RETURN(Module made, model.make());
    const auto module = std::make_shared<const Module>(std::move(made));
    for (const std::string& name : RivalMachines()) {
      auto contest = std::make_shared<Contest>();
      contest->model_name = model.name;
      contest->machine_name = name;
      contest->module = module;
      PARTITA_ASSIGN_OR_RETURN(
          contest->machine, ReadMachine(absl::StrCat(
                                root, "/examples/machines/", name, ".json")));
      for (Rival& rival : RivalsOf(*module, contest->machine)) {
        std::string key = absl::StrCat(model.name, "/", name, "/", rival.name);
        keys_.push_back(key);
        rows_.emplace(std::move(key), ContestRow{contest, std::move(rival)});
      }
    }
    return absl::OkStatus();
  }

  const std::vector<std::string>& keys() const { return keys_; }

  absl::StatusOr<RowCells> Measure(const std::string& key) {
    const ContestRow& row = rows_.at(key);
    Contest& contest = *row.contest;
    const absl::StatusOr<PlannedStep>& by_auto = contest.ByAuto();
    // A refusal is for want of memory. Else the host lacks what predicts.
    if (!by_auto.ok() && !absl::IsResourceExhausted(by_auto.status())) {
      return by_auto.status();
    }
    const absl::StatusOr<PlannedStep> by_rival =
        PlanStep(*contest.module, contest.machine, row.rival.options);
    return RowCells{contest.model_name,
                    contest.machine_name,
                    row.rival.name,
                    StepCell(by_auto),
                    StepCell(by_rival),
                    by_auto.ok() ? by_auto->strategy : "",
                    std::string(by_auto.status().message()),
                    std::string(by_rival.status().message())};
  }

 private:
  std::vector<std::string> keys_;
  absl::flat_hash_map<std::string, ContestRow> rows_;
};

absl::StatusOr<RowTable> Open(const Arguments& arguments) {
  const std::string root = arguments.Get("root", ".");
  const auto contests = std::make_shared<Contests>();
  for (const BenchmarkModel& model : RivalModels(root)) {
    if (!absl::StrContains(model.name, arguments.Get("only", ""))) continue;
    PARTITA_RETURN_IF_ERROR(contests->Add(model, root));
  }
  return RowTable{
      .columns = {"model", "machine", "rival", "auto us", "rival us",
                  "auto strategy", "auto refusal", "rival refusal"},
      .keys = contests->keys(),
      .measure = [contests](const std::string& key) {
        return contests->Measure(key);
      }};
}

constexpr RowBench kBench = {
    .name = "rivals_bench",
    .doc =
        "Predicts the step of auto and of what a user could choose in its "
        "place: other\nstrategies with their options, splits of every node, "
        "layouts by hand.",
    .flags = kFlags,
    .open = Open,
};

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::RunRowBench(partita::kBench, argc, argv);
}
