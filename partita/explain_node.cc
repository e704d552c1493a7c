// Reads the plan's notes, asks the catalog, and replays the placement.
// SPDX-License-Identifier: Apache-2.0

#include "partita/explain_node.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/sharding_text.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "partita/machine_catalog.h"
#include "partita/node_matches.h"
#include "partita/placement_replay.h"
#include "partita/placement_text.h"
#include "partita/reason_sentence.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/node_roles.h"
#include "placement/planner/constraint.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/match_pattern.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"
#include "runtime/plan/plan_names.h"

namespace partita {
namespace {

// A value of that name in a body of the node.
bool Computes(const OpView& node, absl::string_view name) {
  for (const auto& body : node.node().regions) {
    for (const OpView& op : body->ops()) {
      for (int i = 0; i < op.num_results(); ++i) {
        if (op.result(i).name() == name) return true;
      }
    }
  }
  return false;
}

// Invalid if there is none.
NodeId FindInGraph(const Graph& graph, absl::string_view name) {
  if (name.empty()) return {};  // values in bodies may have no name
  const std::vector<std::string> names = NodeNames(graph);
  const std::vector<OpView> ops = graph.ops();
  for (const OpView& op : ops) {
    if (op.num_results() > 0 && names[op.id().index] == name) return op.id();
  }
  for (const OpView& op : ops) {
    if (Computes(op, name)) return op.id();
  }
  return {};
}

absl::Status UnknownEntry(const Plan& plan, absl::string_view entry) {
  const auto append = [](std::string* out, const Entry& known) {
    absl::StrAppend(out, known.name);
  };
  return absl::NotFoundError(absl::StrCat(
      "plan @", plan.name, ": found no entry ", entry, "; expected one of ",
      absl::StrJoin(plan.entries, ", ", append)));
}

// An empty `entry` is any.
absl::Status UnknownNode(const Plan& plan, absl::string_view name,
                         absl::string_view entry) {
  bool is_input = false;
  std::vector<std::string> known;
  for (const Entry& of : plan.entries) {
    if (!entry.empty() && of.name != entry) continue;
    for (ValueId input : of.graph->inputs()) {
      is_input |= of.graph->value(input).name == name;
    }
    for (std::string& node : NodeNames(*of.graph)) {
      if (!node.empty()) known.push_back(std::move(node));
    }
  }
  const std::optional<std::string> meant = ProbablyMeant(name, known);
  return absl::NotFoundError(absl::StrCat(
      "plan @", plan.name, ": found no node %", name,
      is_input ? ", which is an input; expected the name of a node"
               : "; expected a name",
      " of the plan's text, which `partita check --text` prints",
      meant.has_value() ? absl::StrCat("; did you mean %", *meant, "?") : ""));
}

// Why a node without a reason of its own is in the plan.
std::string WhyInserted(const OpView& node) {
  if (node.is(kCopy)) {
    return "the compiler inserted it to bring a value to the devices, or into "
           "the shards, that its readers need";
  }
  if (node.is(kReorder)) {
    return "the compiler inserted it to store a value in the layout that a "
           "kernel reads";
  }
  if (node.is(kBucket)) {
    return "the compiler inserted it to reduce several values at once";
  }
  if (IsStored(node)) return "stored values are where they are read";
  return "the plan has no note about it";
}

std::string NotedReason(const Plan& plan, const PlanNode& node) {
  if (!plan.notes.has_value()) return "";
  if (node.entry >= plan.notes->entries.size()) return "";
  for (const NodeNote& note : plan.notes->entries[node.entry].nodes) {
    if (note.node == node.node) return note.reason;
  }
  return "";
}

// The node alone, over inputs, without placement and layouts.
absl::StatusOr<std::unique_ptr<Graph>> AloneInGraph(const OpView& node) {
  auto alone = std::make_unique<Graph>("alone", &node.graph().literals());
  ValueIds operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    operands.push_back(
        alone->AddInput(absl::StrCat(i), {type.dtype, type.dims, {}}));
  }
  NodeSpec spec = CopyOf(node.node(), operands, &alone->literals());
  spec.placement = Placement();
  PARTITA_RETURN_IF_ERROR(alone->AddNode(std::move(spec)).status());
  return alone;
}

// False if they are those of a profile, which a plan does not hold.
bool HasPrices(const Machine& machine) {
  return machine.profile.hash.empty() || machine.profile.measured != nullptr;
}

// Empty lists are of a node that each device computes whole.
bool IsWhole(const Placement& placement) {
  const auto is_whole = [](const Sharding& sharding) {
    return sharding.kind == Sharding::Kind::kReplicated;
  };
  return absl::c_all_of(placement.operands, is_whole) &&
         absl::c_all_of(placement.results, is_whole);
}

bool IsSamePlace(const Placement& a, const Placement& b) {
  if (a.devices != b.devices) return false;
  if (IsWhole(a) || IsWhole(b)) return IsWhole(a) && IsWhole(b);
  return a.operands == b.operands && a.results == b.results;
}

// The places of the only item of a graph.
std::vector<ItemPlace> PlacesOfOnly(const SearchSpace& space) {
  std::vector<ItemPlace> places = PlacesToTry(space, 0);
  const std::vector<MachineDeviceId>& shared = space.splits.devices();
  // Strategies replicate what they cannot split; moves leave it on one device.
  if (space.splits.of(0).empty() && shared.size() > 1) {
    places.push_back({{shared.begin(), shared.end()}});
  }
  return places;
}

NodeOption OptionAt(const SearchSpace& space, const ItemPlace& place) {
  const CostModel& costs = space.request.costs;
  const NodeId node = space.flow.items[0].node;
  NodeOption option;
  option.placement =
      PlacementsOf(space.request, DraftOf(space, {place}))[node.index];
  option.name = OptionName(option.placement);
  option.has_kernel = true;
  double seconds = 0;
  for (MachineDeviceId device : place.devices) {
    option.has_kernel &= costs.cost(node, device).can_run;
    seconds = std::max(seconds, costs.cost(node, device).seconds);
  }
  if (!option.has_kernel) {
    option.refusal = "no kernel for it there";
    return option;
  }
  if (place.split != ItemPlace::kWhole) {
    seconds = space.splits.of(0)[place.split].seconds;
  }
  if (HasPrices(costs.machine())) option.seconds = seconds;
  return option;
}

void KeepMost(NodeExplanation& explanation) {
  std::vector<NodeOption> kept;
  size_t counts[2] = {0, 0};
  constexpr size_t kMost[2] = {kMostOptionsOnOne, kMostOptionsOnSeveral};
  for (NodeOption& option : explanation.options) {
    const bool on_several = option.placement.devices.size() > 1;
    if (counts[on_several] == kMost[on_several] && !option.is_present) {
      ++explanation.options_left_out;
      continue;
    }
    counts[on_several] += option.is_present ? 0 : 1;
    kept.push_back(std::move(option));
  }
  explanation.options = std::move(kept);
}

absl::Status AddOptions(const OpView& node, const Machine& machine,
                        NodeExplanation& explanation) {
  if (!IsModelNode(node) || !partita::Computes(node)) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> alone,
                           AloneInGraph(node));
  const MachineCatalog prices(machine);
  const CostModel costs(*alone, machine, prices.catalog());
  const Objective objective;
  const PlannerOptions options;
  const PlanRequest request{costs, objective, options};
  const SearchSpace space(request);
  PARTITA_RETURN_IF_ERROR(prices.Check());
  if (space.flow.items.empty()) return absl::OkStatus();
  for (const ItemPlace& place : PlacesOfOnly(space)) {
    NodeOption option = OptionAt(space, place);
    option.is_present = IsSamePlace(node.node().placement, option.placement);
    explanation.options.push_back(std::move(option));
  }
  KeepMost(explanation);
  return absl::OkStatus();
}

// Also for a node of its body: patterns name the nodes that the user wrote.
bool Matches(absl::string_view pattern, const OpView& node) {
  if (MatchesPattern(pattern, node.node().scope)) return true;
  for (int i = 0; i < node.num_results(); ++i) {
    if (MatchesPattern(pattern, node.result(i).name())) return true;
  }
  for (const auto& body : node.node().regions) {
    for (const OpView& op : body->ops()) {
      if (Matches(pattern, op)) return true;
    }
  }
  return false;
}

// What the options ask of the node.
std::vector<std::string> ConstraintsOn(const OpView& node,
                                       const CompileOptions& options) {
  std::vector<std::string> texts;
  for (const Pin& pin : options.pins) {
    if (!Matches(pin.pattern, node)) continue;
    texts.push_back(absl::StrCat("pin ", pin.pattern, "=",
                                 absl::StrJoin(pin.devices, ",")));
  }
  for (const Constraint& constraint : options.planner.constraints) {
    if (absl::c_any_of(constraint.patterns, [&](const std::string& pattern) {
          return Matches(pattern, node);
        })) {
      texts.push_back(ConstraintText(constraint));
    }
  }
  return texts;
}

// Without the figures of the plan.
absl::StatusOr<NodeExplanation> ExplainAlone(
    const Plan& plan, const PlanMachine& machine, const PlanNode& node,
    const std::vector<double>& node_seconds) {
  const Entry& entry = plan.entries[node.entry];
  const OpView op = entry.graph->view(node.node);
  NodeExplanation explanation;
  explanation.entry = entry.name;
  explanation.node =
      absl::StrCat(op.op_name(), " %", NodeNames(*entry.graph)[op.id().index]);
  explanation.placement = PlacementText(op.node().placement);
  if (op.node().kernel.has_value()) {
    explanation.kernel = op.node().kernel->kernel.ToString();
    explanation.arithmetic = ArithmeticsText(op.node().kernel->arithmetics);
  }
  explanation.reason = NotedReason(plan, node);
  explanation.why = explanation.reason.empty()
                        ? WhyInserted(op)
                        : ReasonSentence(explanation.reason);
  explanation.seconds = node_seconds[op.id().index];
  PARTITA_RETURN_IF_ERROR(AddOptions(op, machine.machine, explanation));
  return explanation;
}

}  // namespace

std::string OptionName(const Placement& placement) {
  std::string name = PlacementText(placement);
  const bool is_sum =
      absl::c_any_of(placement.results, [](const Sharding& sharding) {
        return sharding.kind == Sharding::Kind::kPartial;
      });
  for (size_t i = 0; is_sum && i < placement.operands.size(); ++i) {
    if (placement.operands[i].kind != Sharding::Kind::kSplit) continue;
    name.pop_back();  // the parenthesis
    return absl::StrCat(name, ", operand ", i, " ",
                        ShardingText(placement.operands[i]), ")");
  }
  return name;
}

absl::StatusOr<PlanNode> FindPlanNode(const Plan& plan, absl::string_view name,
                                      absl::string_view entry) {
  const absl::string_view bare = absl::StripPrefix(name, "%");
  std::vector<PlanNode> found;
  bool knows_entry = entry.empty();
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    if (!entry.empty() && plan.entries[e].name != entry) continue;
    knows_entry = true;
    const NodeId node = FindInGraph(*plan.entries[e].graph, bare);
    if (node.valid()) found.push_back({e, node});
  }
  if (!knows_entry) return UnknownEntry(plan, entry);
  if (found.size() == 1) return found[0];
  if (found.empty()) return UnknownNode(plan, bare, entry);
  return absl::InvalidArgumentError(absl::StrCat(
      "plan @", plan.name, ": found %", bare, " in the entries @",
      plan.entries[found[0].entry].name, " and @",
      plan.entries[found[1].entry].name, "; expected one of them"));
}

absl::StatusOr<NodeExplanation> ExplainNode(const Plan& plan,
                                            const PlanMachine& machine,
                                            const PlanNode& node) {
  PARTITA_ASSIGN_OR_RETURN(std::vector<NodeExplanation> explanations,
                           ExplainNodes(plan, machine, {node}));
  return std::move(explanations[0]);
}

absl::StatusOr<std::vector<NodeExplanation>> ExplainNodes(
    const Plan& plan, const PlanMachine& machine,
    absl::Span<const PlanNode> nodes) {
  PARTITA_ASSIGN_OR_RETURN(const PlanFigures present, FiguresOf(plan, machine));
  std::vector<std::vector<double>> seconds;  // by entry
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(seconds.emplace_back(),
                             NodeSecondsOf(plan, e, machine));
  }
  std::vector<NodeExplanation> explanations;
  for (const PlanNode& node : nodes) {
    PARTITA_ASSIGN_OR_RETURN(
        NodeExplanation explanation,
        ExplainAlone(plan, machine, node, seconds[node.entry]));
    explanation.present = present;
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

absl::Status PriceOptions(const Plan& plan, const PlanMachine& machine,
                          const PlanNode& node, Module model,
                          const CompileOptions& options,
                          NodeExplanation& explanation) {
  return PriceOptions(plan, machine, absl::MakeConstSpan(&node, 1),
                      std::move(model), options,
                      absl::MakeSpan(&explanation, 1));
}

absl::Status PriceOptions(const Plan& plan, const PlanMachine& machine,
                          absl::Span<const PlanNode> nodes, Module model,
                          const CompileOptions& options,
                          absl::Span<NodeExplanation> explanations) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<PlacementReplay> replay,
      PlacementReplay::Start(plan, machine, std::move(model), options));
  for (size_t n = 0; n < nodes.size(); ++n) {
    const PlanNode& node = nodes[n];
    explanations[n].constraints =
        ConstraintsOn(plan.entries[node.entry].graph->view(node.node), options);
    for (NodeOption& option : explanations[n].options) {
      if (!option.has_kernel) continue;
      absl::StatusOr<PlanFigures> figures =
          replay->WithNodeAt(node.entry, node.node, option.placement);
      if (figures.ok()) {
        option.figures = *std::move(figures);
      } else {
        option.refusal = std::string(figures.status().message());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
