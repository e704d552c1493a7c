// Why a node of a plan is where it is, and what other placements would cost.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_EXPLAIN_NODE_H_
#define PARTITA_PARTITA_EXPLAIN_NODE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "partita/plan_figures.h"
#include "partita/plan_prices.h"
#include "runtime/plan/plan.h"

namespace partita {

// A node of a plan.
struct PlanNode {
  size_t entry = 0;  // of Plan::entries
  NodeId node;       // of its graph
};

// The node whose first result has this name in the plan's text, with or without
// the sigil: "%y". Else the fused node that computes a value of that name.
// `entry` is an entry's name; empty: any that has the node. NotFound if there
// is none; InvalidArgument if several entries have it.
absl::StatusOr<PlanNode> FindPlanNode(const Plan& plan, absl::string_view name,
                                      absl::string_view entry = "");

// The most options of a node that are on one device, and on several. A node
// that has more has the first ones and where it is.
inline constexpr size_t kMostOptionsOnOne = 16;
inline constexpr size_t kMostOptionsOnSeveral = 8;

// A placement that the moves of strategy `search` consider (PlacesToTry): whole
// on one device or, over the largest set of identical devices, replicated or
// split along one dimension. A node that cannot be split may also be
// replicated.
struct NodeOption {
  Placement placement;
  std::string name;         // of the placement: OptionName
  bool is_present = false;  // the plan has the node there
  bool has_kernel = false;  // on each of the devices
  // Predicted, of the node alone by its fastest kernel there, of the slowest
  // device. Nothing without a kernel, and if the plan's prices are those of a
  // profile that was not given.
  std::optional<double> seconds;
  // Why no plan has the node there; empty if one has, or if it is not known.
  std::string refusal;
  // Of the plan with this node there and all others where they are; nothing
  // without the model, and if there is no such plan.
  std::optional<PlanFigures> figures;
};

// PlacementText, and for partial sums the first operand that is split: two such
// placements may have equal results. "cpu:0,cpu:1 (partial sum, operand 0 split
// 1)".
std::string OptionName(const Placement& placement);

struct NodeExplanation {
  std::string entry;
  std::string node;       // "matmul %y"
  std::string placement;  // PlacementText
  std::string kernel;
  std::string arithmetic;
  std::string reason;  // as the plan notes it: "follows %x"; empty: no notes
  std::string why;     // as a sentence
  double seconds = 0;  // predicted, of the slowest rank
  PlanFigures present;
  // Devices in the machine's order, then replicated, then each split. Empty for
  // a node that cannot be moved alone: copies, reorders, buckets, constants,
  // variables and views.
  std::vector<NodeOption> options;
  int options_left_out = 0;  // those beyond kMostOptionsOn...
  // The constraints and pins of the options that name the node.
  std::vector<std::string> constraints;
};

// From the plan alone. Errors as FiguresOf.
absl::StatusOr<NodeExplanation> ExplainNode(const Plan& plan,
                                            const PlanMachine& machine,
                                            const PlanNode& node);
// One for each node; simulates the plan once.
absl::StatusOr<std::vector<NodeExplanation>> ExplainNodes(
    const Plan& plan, const PlanMachine& machine,
    absl::Span<const PlanNode> nodes);

// Adds the figures and refusals of the options, and the constraints, from the
// model and the options of the plan's compilation. Errors as
// PlacementReplay::Start.
absl::Status PriceOptions(const Plan& plan, const PlanMachine& machine,
                          const PlanNode& node, Module model,
                          const CompileOptions& options,
                          NodeExplanation& explanation);
// The same for explanations of these nodes; places the model once.
absl::Status PriceOptions(const Plan& plan, const PlanMachine& machine,
                          absl::Span<const PlanNode> nodes, Module model,
                          const CompileOptions& options,
                          absl::Span<NodeExplanation> explanations);

}  // namespace partita

#endif  // PARTITA_PARTITA_EXPLAIN_NODE_H_
