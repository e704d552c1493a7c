// Prices a plan's nodes, and writes explanations as the viewer shows them.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/viewed_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "partita/explain_node.h"
#include "tools/partita/figures_text.h"
#include "tools/partita/plan_machine.h"
#include "tools/viewer/nodes_of_interest.h"

namespace partita {
namespace {

OptionView ViewOf(const NodeOption& option, size_t entry) {
  OptionView view;
  view.placement = option.name;
  view.is_present = option.is_present;
  view.has_kernel = option.has_kernel;
  view.refusal = option.refusal;
  view.seconds = option.seconds;
  if (!option.figures.has_value()) return view;
  const EntryFigures& figures = option.figures->entries[entry];
  view.step_seconds = figures.step_seconds;
  view.transfers = TransfersText(figures.transfers);
  view.memory = ArenasText(option.figures->devices);
  view.path = PathText(figures.path);
  return view;
}

ExplanationView ViewOf(const NodeExplanation& explanation, int box,
                       size_t entry) {
  ExplanationView view;
  view.box = box;
  view.why = explanation.why;
  view.constraints = explanation.constraints;
  for (const NodeOption& option : explanation.options) {
    view.options.push_back(ViewOf(option, entry));
  }
  view.options_left_out = explanation.options_left_out;
  return view;
}

// A node and its box.
struct ViewedNode {
  PlanNode node;
  int box = 0;
};

std::vector<ViewedNode> ViewedNodes(const PlanView& view, int most) {
  std::vector<ViewedNode> nodes;
  const int entries = static_cast<int>(view.entries.size());
  for (int e = 0; e < entries; ++e) {
    const ViewedEntry& entry = view.entries[e];
    for (int box : NodesOfInterest(entry, std::max(1, most / entries))) {
      nodes.push_back({{static_cast<size_t>(e), entry.boxes[box].node}, box});
    }
  }
  if (static_cast<int>(nodes.size()) > most) nodes.resize(most);
  return nodes;
}

// The plan's own notes have the prices that it was made with. So a page can be
// made on any host, also on one that cannot ask the kernels of the plan's.
absl::StatusOr<std::vector<double>> ViewedSeconds(const Plan& plan,
                                                  size_t entry,
                                                  const PlanMachine& machine) {
  const EntryNotes* notes = NotesOf(plan, entry, machine);
  if (notes == nullptr || notes->nodes.empty()) {
    return NodeSecondsOf(plan, entry, machine);
  }
  return NotedSeconds(plan, entry);
}

}  // namespace

absl::StatusOr<std::optional<PlanMachine>> FindPlanMachine(
    const Plan& plan, const std::string& path, const Arguments& arguments) {
  const bool has_own =
      plan.notes.has_value() && !plan.notes->machine_json.empty();
  if (!has_own && !arguments.has("machine")) return std::nullopt;
  return ReadPlanMachine(plan, path, arguments);
}

absl::StatusOr<PlanView> ReadPredictedView(
    const Plan& plan, const std::optional<PlanMachine>& machine) {
  if (!machine.has_value()) return ReadPlanView(plan);
  ViewedMachine viewed{machine->machine, {}, machine->is_own};
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(viewed.node_seconds.emplace_back(),
                             ViewedSeconds(plan, e, *machine));
  }
  return ReadPlanView(plan, &viewed);
}

absl::Status AddExplanations(const Plan& plan, const PlanMachine& machine,
                             int most, std::optional<PlanSource> source,
                             PlanView& view) {
  const std::vector<ViewedNode> viewed = ViewedNodes(view, most);
  if (viewed.empty()) return absl::OkStatus();
  std::vector<PlanNode> nodes;
  for (const ViewedNode& node : viewed) nodes.push_back(node.node);
  PARTITA_ASSIGN_OR_RETURN(std::vector<NodeExplanation> explanations,
                           ExplainNodes(plan, machine, nodes));
  if (source.has_value()) {
    PARTITA_RETURN_IF_ERROR(
        PriceOptions(plan, machine, nodes, std::move(source->model),
                     source->options, absl::MakeSpan(explanations)));
  }
  for (size_t n = 0; n < viewed.size(); ++n) {
    const size_t entry = viewed[n].node.entry;
    view.entries[entry].explanations.push_back(
        ViewOf(explanations[n], viewed[n].box, entry));
  }
  return absl::OkStatus();
}

}  // namespace partita
