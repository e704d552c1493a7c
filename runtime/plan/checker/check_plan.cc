// Checks form, memory, progress, races and values of every entry, in this
// order.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/check_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/graph_claims.h"
#include "runtime/plan/checker/launch_nodes.h"
#include "runtime/plan/checker/proof.h"

namespace partita {
namespace {

bool OwnsGraph(const Plan& plan, const Graph* graph) {
  const auto& functions = plan.module.functions();
  return std::any_of(functions.begin(), functions.end(),
                     [&](const auto& owned) { return owned.get() == graph; });
}

void FindCollectives(EntryView& view) {
  const Graph& graph = view.graph();
  for (const Command& command : view.commands) {
    const NodeId id = command.instance.node;
    if (command.kind != Command::Kind::kCollective || !id.valid() ||
        id.index >= graph.node_id_bound() || !graph.alive(id)) {
      continue;
    }
    const auto [it, added] = view.collectives.try_emplace(id);
    if (!added) continue;
    it->second = {CollectiveOf(graph.view(id)), ParticipantsOf(graph.view(id))};
  }
}

// The entry before its schedule is expanded.
EntryView View(const Plan& plan, int index, Findings& findings) {
  EntryView view;
  view.plan = &plan;
  view.entry = &plan.entries[index];
  view.index = index;
  if (view.entry->graph == nullptr || !OwnsGraph(plan, view.entry->graph)) {
    findings.Add(view.Found(Rule::kShape,
                            "found no bound graph of the plan's module; "
                            "expected one; name a function that it has"));
    return view;
  }
  CheckDeclarations(view, findings);
  CheckNames(view, findings);
  if (findings.empty()) CheckShardings(view, findings);
  if (findings.empty()) CheckLayouts(view, findings);
  return view;
}

// Expands the schedule. Needs: declarations without findings, because the
// commands may take much memory.
void WriteOut(EntryView& view, Findings& findings) {
  absl::StatusOr<CommandList> commands = Expand(*view.entry);
  if (!commands.ok()) {
    findings.Add(view.Found(
        Rule::kShape, absl::StrCat("schedule: ", commands.status().message())));
    return;
  }
  view.SetCommands(*std::move(commands));
  CheckEvents(view, findings);
  FindCollectives(view);
}

void CheckEntry(EntryView& view, Findings& findings) {
  WriteOut(view, findings);
  if (!findings.empty()) return;
  CheckAccumulations(view, findings);
  CheckCommands(view, findings);
  if (!findings.empty()) return;
  CheckSlots(view, findings);
  CheckConstants(view, findings);
  const Partners partners = FindPartners(view, findings);
  if (!findings.empty()) return;
  const std::vector<IdRange<CommandId>> nodes =
      FindLaunchNodes(view, partners, findings);
  CheckProgress(view, partners, findings);
  if (!findings.empty()) return;
  CheckInsideCommands(view, findings);
  CheckRaces(view, partners, findings);
  CheckValues(view, partners, nodes, findings);
}

// Form has shown that every byte is inside the stated parts; this adds up the
// parts. Needs: devices and depths without findings.
void CheckMemory(const Plan& plan, Findings& findings) {
  int64_t depth = 1;
  for (const Entry& entry : plan.entries) {
    depth = std::max<int64_t>(depth, entry.depth);
  }
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    const PlanDevice& device = plan.devices[d];
    const int64_t peak = device.persistent_bytes + depth * device.step_bytes;
    if (peak <= device.memory) continue;
    Finding finding;
    finding.rule = Rule::kMemory;
    finding.device = DeviceId(static_cast<int32_t>(d));
    finding.bytes = {device.memory, peak};
    finding.message = absl::StrCat(
        "plan @", plan.name, ": found ", peak, " bytes needed on ",
        device.traits.name, " (", device.persistent_bytes, " persistent and ",
        depth, " x ", device.step_bytes, " for steps); expected at most ",
        device.memory, "; place some of it elsewhere or lower the batch");
    findings.Add(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> FindFaults(const Plan& plan, CheckOptions options) {
  Findings findings(options);
  CheckEntries(plan, findings);
  CheckDevices(plan, findings);
  if (!findings.empty()) return findings.Take();
  std::vector<EntryView> views;
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    views.push_back(View(plan, static_cast<int>(i), findings));
  }
  if (findings.empty()) CheckPersistent(views, findings);
  if (findings.empty()) CheckVariableShards(views, findings);
  if (!findings.empty()) return findings.Take();
  CheckMemory(plan, findings);
  std::vector<Finding> all = findings.Take();
  for (EntryView& view : views) {
    Findings of_entry(options);
    CheckEntry(view, of_entry);
    view.DropCommands();
    for (Finding& finding : of_entry.Take()) all.push_back(std::move(finding));
    if (all.size() > 100) break;
  }
  return all;
}

absl::StatusOr<Certificate> CheckPlan(const Plan& plan) {
  const std::vector<Finding> findings = FindFaults(plan);
  if (!findings.empty()) return ToStatus(findings);
  Certificate certificate;
  certificate.checker = kCheckerName;
  certificate.proved = {"form",  "progress", "no race",
                        "value", "memory",   "plan = bound graph"};
  certificate.assumed = {
      Assumed(kBoundIsPlaced),
      Assumed(kPlacedIsOptimised),
      "optimised graph = the user's graph: passes, tested only",
      "kernels access declared ranges only and compute their nodes",
      "a copy of a replicated value may come from any replica",
      "executor, transports and caller keep their side",
  };
  return certificate;
}

}  // namespace partita
