// Predicted steps beside measured ones, a plan a row: docs/benchmarks.md.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/status_macros.h"
#include "placement/machine/machine.h"
#include "tests/bench/plans/prediction.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"profile", "FILE",
     "measured kernels of this host; without such a file they are measured "
     "first and written to it"},
    {"time-budget", "SECONDS", "of that measurement (default 300)"},
    {"rounds", "N", "measurements of each plan (default 5)"},
    {"steps", "N", "steps of each measurement (default 20)"},
};

struct Machines {
  Machine plain;
  Machine profiled;
};

absl::StatusOr<Machines> MachinesOf(const std::string& profile,
                                    double budget_seconds) {
  Machines machines;
  PARTITA_ASSIGN_OR_RETURN(machines.plain, HalvesOfHost());
  PARTITA_ASSIGN_OR_RETURN(
      machines.profiled, WithProfile(machines.plain, profile, budget_seconds));
  return machines;
}

absl::StatusOr<RowTable> Open(const Arguments& arguments) {
  StepRounds rounds;
  PARTITA_ASSIGN_OR_RETURN(rounds.rounds,
                           arguments.GetInt("rounds", 5, 1, 1'000));
  PARTITA_ASSIGN_OR_RETURN(rounds.steps,
                           arguments.GetInt("steps", 20, 1, 100'000));
  PARTITA_ASSIGN_OR_RETURN(const double budget,
                           arguments.GetDouble("time-budget", 300));
  if (!arguments.has("keys") && !arguments.has("profile")) {
    return CalledWrongly("found no --profile; expected --profile FILE");
  }
  const std::string profile = arguments.Get("profile", "");
  RowTable table{.columns = kPredictionColumns};
  absl::flat_hash_map<std::string, PredictionCase> cases;
  for (const PredictionCase& plan_case : PredictionCases()) {
    table.keys.push_back(plan_case.key());
    cases.emplace(plan_case.key(), plan_case);
  }
  // Measured with the first row: printing keys measures nothing.
  table.measure =
      [=, machines = std::optional<Machines>()](
          const std::string& key) mutable -> absl::StatusOr<RowCells> {
    if (!machines.has_value()) {
      PARTITA_ASSIGN_OR_RETURN(machines, MachinesOf(profile, budget));
    }
    return PredictionRow(cases.at(key), machines->plain, machines->profiled,
                         rounds);
  };
  return table;
}

constexpr RowBench kBench = {
    .name = "prediction_bench",
    .doc =
        "Compiles models for this host as two devices, and compares measured "
        "steps with\nthose that rooflines and a profile predict. The host has "
        "to be quiet.",
    .flags = kFlags,
    .open = Open,
};

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  return partita::RunRowBench(partita::kBench, argc, argv);
}
