// Random placement problems that are kept by their seeds, and how far `auto` is
// from their best placements.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_QUALITY_H_
#define PARTITA_TESTS_BENCH_PLANS_QUALITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/bench/plans/row_bench.h"
#include "tests/planner/best_placement.h"
#include "tests/planner/random_problem.h"

namespace partita {

// One problem. Machines and memory alternate with the seed, so that every run
// of seeds has all of them.
struct QualityCase {
  MachineShape shape() const;
  // On each device from 45 to 105 % of the bytes that all nodes take on one.
  // Split nodes are tried with ample memory only.
  bool is_tight() const;
  std::string key() const;  // "whole/17", "split/17"

  NodePlaces places = NodePlaces::kWhole;
  uint64_t seed = 0;
};

// 1,000 problems of 8 to 11 nodes, each node whole on one device, then 200 of 3
// or 4 nodes, which may also be split or computed on several devices. On three
// devices one problem of 16 has 10 or 11 nodes, and the others 8 or 9: 11 nodes
// have 177,147 placements.
std::vector<QualityCase> QualityCases(uint64_t first_seed);

PlacementProblem ProblemOf(const QualityCase& problem_case);

// The cells of a problem: its size, the best of all placements, and what auto
// makes. Predicted seconds, the same on every host. The error of auto, unless
// it refuses for want of memory: the host then lacks what predicts.
inline const RowCells kQualityColumns = {
    "seed",          "machine",        "memory",  "nodes",
    "placements",    "lowered",        "best us", "auto us",
    "auto strategy", "best placement", "refusal",
};
absl::StatusOr<RowCells> QualityRow(const QualityCase& problem_case,
                                    const PlacementProblem& problem);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_QUALITY_H_
