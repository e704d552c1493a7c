// Compares paired nodes, and the figures of both plans.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_diff.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/arithmetic.h"
#include "graph/status_macros.h"
#include "partita/node_matches.h"
#include "partita/placement_text.h"
#include "placement/cost/node_roles.h"
#include "runtime/plan/plan_names.h"

namespace partita {
namespace {

// One entry of one plan, for reading.
struct PlanEntry {
  const Graph& graph;
  std::vector<std::string> names;    // by node id
  std::vector<std::string> reasons;  // by node id
  std::vector<double> seconds;       // by node id
};

absl::StatusOr<PlanEntry> ReadEntry(const Plan& plan, size_t number,
                                    const PlanMachine& machine) {
  const Graph& graph = *plan.entries[number].graph;
  PlanEntry entry{graph, NodeNames(graph), {}, {}};
  entry.names.resize(graph.node_id_bound());
  entry.reasons.resize(graph.node_id_bound());
  PARTITA_ASSIGN_OR_RETURN(entry.seconds, NodeSecondsOf(plan, number, machine));
  if (!plan.notes.has_value() || number >= plan.notes->entries.size()) {
    return entry;
  }
  for (const NodeNote& note : plan.notes->entries[number].nodes) {
    if (!note.node.valid() || note.node.index >= graph.node_id_bound()) {
      continue;
    }
    entry.reasons[note.node.index] = note.reason;
  }
  return entry;
}

PlacedNodeState StateOf(const PlanEntry& entry, NodeId id) {
  const Node& node = entry.graph.node(id);
  PlacedNodeState state;
  state.node = id;
  state.name = absl::StrCat("%", entry.names[id.index]);
  state.placement = PlacementText(node.placement);
  state.reason = entry.reasons[id.index];
  state.seconds = entry.seconds[id.index];
  if (node.kernel.has_value()) {
    state.kernel = node.kernel->kernel.ToString();
    state.arithmetic = ArithmeticsText(node.kernel->arithmetics);
  }
  return state;
}

// "matmul %y".
std::string NodeText(const PlanEntry& entry, NodeId id) {
  return absl::StrCat(entry.graph.view(id).op_name(), " %",
                      entry.names[id.index]);
}

// Ranks are compared one by one; if one side has fewer different arithmetics,
// its last one stands for the others.
void AddDifferences(const Arithmetic& a, const Arithmetic& b,
                    std::vector<bool>& differs) {
  const bool found[] = {
      a.source != b.source,   a.implementation != b.implementation,
      a.threads != b.threads, a.violates != b.violates,
      a.relaid != b.relaid,   a.rounded_to != b.rounded_to};
  for (size_t i = 0; i < std::size(found); ++i) {
    differs[i] = differs[i] || found[i];
  }
}

std::vector<std::string> ArithmeticDifferences(const Node& a, const Node& b) {
  static constexpr const char* kNames[] = {"version", "isa",    "threads",
                                           "ieee",    "layout", "rounding"};
  if (!a.kernel.has_value() || !b.kernel.has_value()) return {};
  const Arithmetics& ranks_a = a.kernel->arithmetics;
  const Arithmetics& ranks_b = b.kernel->arithmetics;
  if (ranks_a == ranks_b) return {};
  std::vector<std::string> differences;
  if (a.kernel->kernel != b.kernel->kernel) differences.push_back("kernel");
  std::vector<bool> differs(std::size(kNames), false);
  for (size_t i = 0; i < std::max(ranks_a.size(), ranks_b.size()); ++i) {
    const auto at = [i](const Arithmetics& ranks) {
      return ranks.empty() ? Arithmetic()
                           : ranks[std::min(i, ranks.size() - 1)];
    };
    AddDifferences(at(ranks_a), at(ranks_b), differs);
  }
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (differs[i]) differences.push_back(kNames[i]);
  }
  return differences;
}

void CompareNodes(const PlanEntry& a, const PlanEntry& b, EntryDiff& diff) {
  const NodeMatches matches = MatchNodes(a.graph, b.graph);
  diff.paired = static_cast<int>(matches.pairs.size());
  for (const NodePair& pair : matches.pairs) {
    const OpView node = a.graph.view(pair.a);
    if (IsView(node)) continue;
    const Node& other = b.graph.node(pair.b);
    NodeChange change{std::string(node.op_name()), StateOf(a, pair.a),
                      StateOf(b, pair.b),
                      ArithmeticDifferences(node.node(), other)};
    if (node.node().placement != other.placement) diff.moved.push_back(change);
    if (!change.arithmetic.empty()) diff.computed.push_back(std::move(change));
  }
  for (NodeId id : matches.only_a) diff.only_a.push_back(NodeText(a, id));
  for (NodeId id : matches.only_b) diff.only_b.push_back(NodeText(b, id));
}

const ArenaFigures* FindDevice(const PlanFigures& figures,
                               const std::string& device) {
  const auto place = absl::c_find_if(
      figures.devices,
      [&](const ArenaFigures& arena) { return arena.device == device; });
  return place == figures.devices.end() ? nullptr : &*place;
}

std::vector<DeviceDiff> CompareDevices(const PlanFigures& a,
                                       const PlanFigures& b) {
  std::vector<DeviceDiff> devices;
  for (const ArenaFigures& arena : a.devices) {
    DeviceDiff& device = devices.emplace_back();
    device.device = arena.device;
    device.a = arena;
    if (const ArenaFigures* same = FindDevice(b, arena.device)) {
      device.b = *same;
    }
  }
  for (const ArenaFigures& arena : b.devices) {
    if (FindDevice(a, arena.device) != nullptr) continue;
    devices.push_back({arena.device, std::nullopt, arena});
  }
  return devices;
}

// The first entry of that name; the number of entries if there is none.
size_t FindEntry(const Plan& plan, const std::string& name) {
  const auto place = absl::c_find_if(
      plan.entries, [&](const Entry& entry) { return entry.name == name; });
  return place - plan.entries.begin();
}

}  // namespace

bool EntryDiff::empty() const {
  return a == b && moved.empty() && computed.empty() && only_a.empty() &&
         only_b.empty();
}

bool PlanDiff::empty() const {
  return entries_only_a.empty() && entries_only_b.empty() &&
         absl::c_all_of(
             devices,
             [](const DeviceDiff& device) { return device.a == device.b; }) &&
         absl::c_all_of(entries,
                        [](const EntryDiff& entry) { return entry.empty(); });
}

absl::StatusOr<PlanDiff> DiffPlans(const Plan& a, const PlanMachine& machine_a,
                                   const Plan& b,
                                   const PlanMachine& machine_b) {
  PARTITA_ASSIGN_OR_RETURN(const PlanFigures figures_a,
                           FiguresOf(a, machine_a));
  PARTITA_ASSIGN_OR_RETURN(const PlanFigures figures_b,
                           FiguresOf(b, machine_b));
  PlanDiff diff{.name_a = a.name,
                .name_b = b.name,
                .machine_a = machine_a.machine.name,
                .machine_b = machine_b.machine.name,
                .devices = CompareDevices(figures_a, figures_b)};
  for (size_t e = 0; e < a.entries.size(); ++e) {
    const size_t other = FindEntry(b, a.entries[e].name);
    if (other == b.entries.size()) {
      diff.entries_only_a.push_back(a.entries[e].name);
      continue;
    }
    PARTITA_ASSIGN_OR_RETURN(const PlanEntry entry_a,
                             ReadEntry(a, e, machine_a));
    PARTITA_ASSIGN_OR_RETURN(const PlanEntry entry_b,
                             ReadEntry(b, other, machine_b));
    EntryDiff& entry = diff.entries.emplace_back();
    entry.a = figures_a.entries[e];
    entry.b = figures_b.entries[other];
    CompareNodes(entry_a, entry_b, entry);
  }
  for (const Entry& entry : b.entries) {
    if (FindEntry(a, entry.name) < a.entries.size()) continue;
    diff.entries_only_b.push_back(entry.name);
  }
  return diff;
}

}  // namespace partita
