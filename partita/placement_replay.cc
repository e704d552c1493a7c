// Writes the plan's placement on the model's nodes, and lowers them.
// SPDX-License-Identifier: Apache-2.0

#include "partita/placement_replay.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/core_ops.h"
#include "graph/fingerprint.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/views.h"
#include "partita/compile_request.h"
#include "partita/node_matches.h"
#include "partita/predict_step.h"
#include "placement/cost/node_roles.h"
#include "placement/partition/sharded_placement.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/item_splits.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/planner.h"
#include "runtime/plan/micro_batches.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// Nodes with a placement keep it, shardings included; the others follow them.
absl::StatusOr<Draft> DraftAsWritten(const PlanRequest& request) {
  Draft draft(request.graph());
  for (NodeId node : request.costs.order()) {
    const Placement* written = request.pin(node);
    if (written == nullptr) continue;
    NodeDevices& place = draft.assignment[node];
    for (const std::string& name : written->devices) {
      place.devices.push_back(request.costs.FindDevice(name));
    }
    place.operands = written->operands;
    place.results = written->results;
  }
  PutFollowers(request, draft);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  return draft;
}

CompileOptions OptionsOf(const Plan& plan, CompileOptions options) {
  options.depth = PlanDepth(plan);
  if (options.micro_batches.has_value()) return options;
  int most = 1;
  for (const Entry& entry : plan.entries) {
    most = std::max(most, CountMicroBatches(entry));
  }
  options.micro_batches = most;
  return options;
}

// What the plan's own notes say of the options.
absl::Status OtherModel(const Plan& plan, absl::string_view found) {
  std::string noted;
  if (plan.notes.has_value() && !plan.notes->summary.empty()) {
    const std::string& summary = plan.notes->summary;
    noted =
        absl::StrCat("; the plan was ", summary.substr(0, summary.find('\n')));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "plan @", plan.name, ": found ", found,
      "; expected the model that the plan was compiled from, and the flags of "
      "that compilation",
      noted));
}

// Views of the node's results are split as these are. Those that cannot be, and
// views of whole results, have no placement of their own and so follow.
void MoveViews(const Graph& graph, NodeId node,
               std::vector<Placement>& placements) {
  std::vector<bool> follows(graph.node_id_bound(), false);
  follows[node.index] = true;
  for (const OpView& op : graph.ops()) {
    if (!IsView(op)) continue;
    const int operand = ViewsOf(op)->front().operand;
    const Value& viewed = graph.value(op.operand(operand).id());
    const NodeId maker = viewed.defining_node;
    if (!maker.valid() || !follows[maker.index]) continue;
    follows[op.id().index] = true;
    const ShardedPlacement made =
        ResultPlace(placements[maker.index], viewed.index);
    const bool is_split = made.sharding.kind == Sharding::Kind::kSplit;
    placements[op.id().index] =
        is_split ? SplitByOperand(op, operand, made).value_or(Placement())
                 : Placement();
  }
}

}  // namespace

PlacementReplay::PlacementReplay(const Plan& plan, const PlanMachine& machine,
                                 Module model, const CompileOptions& options)
    : plan_(plan),
      machine_(machine),
      options_(OptionsOf(plan, options)),
      target_(machine.machine, options_),
      stages_(target_, times_),
      source_(std::move(model), target_) {}

absl::StatusOr<std::unique_ptr<PlacementReplay>> PlacementReplay::Start(
    const Plan& plan, const PlanMachine& machine, Module model,
    const CompileOptions& options) {
  if (machine.is_own && !machine.machine.profile.hash.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "plan @", plan.name, ": found prices of the profile ",
        machine.machine.profile.hash,
        ", which a plan does not hold; expected the machine file that names "
        "the profile, by --machine"));
  }
  auto replay = std::unique_ptr<PlacementReplay>(
      new PlacementReplay(plan, machine, std::move(model), options));
  PARTITA_RETURN_IF_ERROR(replay->Prepare());
  return replay;
}

absl::Status PlacementReplay::Prepare() {
  PARTITA_RETURN_IF_ERROR(CheckRequest(machine_.machine, options_));
  PARTITA_RETURN_IF_ERROR(
      CheckConstraintPatterns(source_.module(), options_.planner.constraints));
  std::vector<PassRecord> passes;
  PARTITA_RETURN_IF_ERROR(source_.Optimise(passes));
  if (*options_.micro_batches > 1) {
    PARTITA_RETURN_IF_ERROR(source_.DivideIntoMicroBatches());
  }
  source_.Renumber();
  PARTITA_RETURN_IF_ERROR(ReadPlacements());
  PARTITA_ASSIGN_OR_RETURN(present_, FiguresOf(plan_, machine_));
  attempts_.emplace(source_, target_, stages_, /*opens_codegen=*/false);
  const std::string name = "present";
  const absl::StatusOr<Attempt> attempt = Try(placements_, name);
  if (!attempt.ok()) {
    return OtherModel(plan_, absl::StrCat("a model that has no such plan: ",
                                          attempt.status().message()));
  }
  PARTITA_RETURN_IF_ERROR(CheckSamePlan(*attempt));
  figures_.emplace(name, present_);
  return absl::OkStatus();
}

absl::Status PlacementReplay::ReadPlacements() {
  const size_t functions = source_.module().functions().size();
  if (functions != plan_.entries.size()) {
    return OtherModel(plan_, absl::StrCat("a model of ", functions,
                                          " functions, with a plan of ",
                                          plan_.entries.size(), " entries"));
  }
  for (size_t i = 0; i < functions; ++i) {
    PARTITA_RETURN_IF_ERROR(ReadPlacementsOf(i));
  }
  return absl::OkStatus();
}

absl::Status PlacementReplay::ReadPlacementsOf(size_t function) {
  const Graph& source = *source_.module().functions()[function];
  const Graph& placed = *plan_.entries[function].graph;
  const VariableHomes homes = HomesToDecide(source_.module());
  std::vector<Placement>& placements =
      placements_.emplace_back(source.node_id_bound());
  std::vector<NodeId>& sources = sources_.emplace_back(placed.node_id_bound());
  const NodeMatches matches = MatchNodes(source, placed);
  for (const NodePair& pair : matches.pairs) {
    sources[pair.b.index] = pair.a;
    const OpView node = source.view(pair.a);
    // Others have a copy on each device that reads them.
    if (node.is(kVariable) && !homes.contains(node.attr_string("name"))) {
      continue;
    }
    placements[pair.a.index] = placed.node(pair.b).placement;
  }
  for (NodeId id : matches.only_a) {
    const OpView node = source.view(id);
    if (!Computes(node)) continue;
    return OtherModel(plan_, absl::StrCat("no node of the plan for ",
                                          node.ToString(), " of the model"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Attempt> PlacementReplay::Try(const Placements& placements,
                                             const std::string& name) {
  for (size_t i = 0; i < placements.size(); ++i) {
    source_.WritePlacements(static_cast<int>(i), placements[i]);
  }
  const Planner planner = {.name = name.c_str(),
                           .doc = "the placement that is written on the graph",
                           .draft = DraftAsWritten,
                           .follow = DraftAsWritten,
                           .reads_memory_limits = false};
  return attempts_->Try(planner, /*with_texts=*/false);
}

absl::StatusOr<PlanFigures> PlacementReplay::FiguresOfAttempt(
    const Attempt& attempt) const {
  std::vector<std::vector<double>> node_seconds;
  for (size_t e = 0; e < attempt.plan.entries.size(); ++e) {
    node_seconds.push_back(
        SecondsByNode(*attempt.plan.entries[e].graph, attempt.chosen[e]));
  }
  return FiguresOf(attempt.plan, machine_.machine, node_seconds);
}

absl::Status PlacementReplay::CheckSamePlan(const Attempt& attempt) const {
  for (size_t e = 0; e < plan_.entries.size(); ++e) {
    if (FingerprintOf(*plan_.entries[e].graph) ==
        FingerprintOf(*attempt.plan.entries[e].graph)) {
      continue;
    }
    return OtherModel(plan_, absl::StrCat("another graph for entry @",
                                          plan_.entries[e].name));
  }
  PARTITA_ASSIGN_OR_RETURN(const PlanFigures figures,
                           FiguresOfAttempt(attempt));
  if (figures == present_) return absl::OkStatus();
  return OtherModel(plan_, absl::StrFormat("steps of %g s in place of %g s",
                                           figures.entries[0].step_seconds,
                                           present_.entries[0].step_seconds));
}

absl::StatusOr<PlanFigures> PlacementReplay::WithNodeAt(
    size_t entry, NodeId node, const Placement& placement) {
  const NodeId source = sources_[entry][node.index];
  if (!source.valid()) {
    return absl::FailedPreconditionError(absl::StrCat(
        plan_.entries[entry].graph->view(node).ToString(),
        ": found no node of the model for it; expected one: copies, reorders "
        "and buckets are where their readers are"));
  }
  Placements placements = placements_;
  placements[entry][source.index] = placement;
  MoveViews(*source_.module().functions()[entry], source, placements[entry]);
  const std::string name = absl::StrCat("alternative ", ++alternatives_);
  PARTITA_ASSIGN_OR_RETURN(const Attempt attempt, Try(placements, name));
  if (!attempt.repeats.empty()) return figures_.at(attempt.repeats);
  PARTITA_ASSIGN_OR_RETURN(PlanFigures figures, FiguresOfAttempt(attempt));
  figures_.emplace(name, figures);
  return figures;
}

}  // namespace partita
