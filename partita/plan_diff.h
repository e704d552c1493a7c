// What differs between two plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_DIFF_H_
#define PARTITA_PARTITA_PLAN_DIFF_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partita/plan_figures.h"
#include "partita/plan_prices.h"
#include "runtime/plan/plan.h"

namespace partita {

// A node in one plan.
struct PlacedNodeState {
  NodeId node;             // of its entry's graph
  std::string name;        // "%y"; unnamed values have the plan's numbers
  std::string placement;   // "gpu:0", "gpu:0,gpu:1 (split 0)"
  std::string kernel;      // "onednn.matmul"; empty for variables
  std::string arithmetic;  // ArithmeticsText
  std::string reason;      // why it is there; empty if the plan has no notes
  double seconds = 0;      // predicted, of the slowest rank
};

// A node of both plans.
struct NodeChange {
  std::string op;
  PlacedNodeState a;
  PlacedNodeState b;
  // What differs in the arithmetic: "kernel", "version", "isa", "threads",
  // "ieee", "layout", "rounding", in this order. Empty: results have the same
  // bits if the operands have.
  std::vector<std::string> arithmetic;
};

// An entry of both plans.
struct EntryDiff {
  EntryFigures a;
  EntryFigures b;
  int paired = 0;                    // nodes that both have
  std::vector<NodeChange> moved;     // on other devices, or sharded otherwise
  std::vector<NodeChange> computed;  // by another arithmetic
  std::vector<std::string> only_a;   // "matmul %y"
  std::vector<std::string> only_b;
  bool empty() const;
};

// A device of either plan.
struct DeviceDiff {
  std::string device;
  std::optional<ArenaFigures> a;  // nothing: that plan does not use it
  std::optional<ArenaFigures> b;
};

struct PlanDiff {
  std::string name_a;
  std::string name_b;
  std::string machine_a;
  std::string machine_b;
  std::vector<DeviceDiff> devices;  // those of a, then those of b alone
  std::vector<EntryDiff> entries;   // by name, in the order of a
  std::vector<std::string> entries_only_a;
  std::vector<std::string> entries_only_b;
  // True if devices, figures, placements, arithmetics and nodes are equal.
  bool empty() const;
};

// Pairs entries by name, and nodes as MatchNodes does. Views are in no list:
// they are where the bytes are. Simulates both plans, each on its machine.
// Errors as FiguresOf.
absl::StatusOr<PlanDiff> DiffPlans(const Plan& a, const PlanMachine& machine_a,
                                   const Plan& b, const PlanMachine& machine_b);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_DIFF_H_
