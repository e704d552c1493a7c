// Reads a plan's notes, or asks the machine's catalog.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_prices.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/status_macros.h"
#include "partita/machine_catalog.h"
#include "placement/simulate/command_cost.h"

namespace partita {
namespace {

absl::StatusOr<std::vector<double>> CatalogSeconds(const Graph& graph,
                                                   const Machine& machine) {
  const MachineCatalog prices(machine);
  PARTITA_ASSIGN_OR_RETURN(std::vector<double> seconds,
                           PlacedNodeSeconds(graph, machine, prices.catalog()));
  PARTITA_RETURN_IF_ERROR(prices.Check());
  return seconds;
}

absl::Status BadNote(const Entry& entry, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "notes of entry @", entry.name, ": found ", found,
      "; expected the notes that compile wrote; compile the plan again, or "
      "remove its notes"));
}

}  // namespace

absl::StatusOr<std::optional<PlanMachine>> OwnMachine(const Plan& plan) {
  if (!plan.notes.has_value() || plan.notes->machine_json.empty()) {
    return std::nullopt;
  }
  PARTITA_ASSIGN_OR_RETURN(
      Machine machine,
      ParseMachine(plan.notes->machine_json, "the plan's notes"));
  return PlanMachine{std::move(machine), /*is_own=*/true};
}

absl::Status CheckHasDevices(const Plan& plan, const Machine& machine) {
  for (const PlanDevice& device : plan.devices) {
    if (machine.FindDevice(device.traits.name) != nullptr) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "machine ", machine.name, ": found no device ", device.traits.name,
        ", which the plan uses; expected a machine like the one that the plan "
        "is for, or compile it again for this one"));
  }
  return absl::OkStatus();
}

const EntryNotes* NotesOf(const Plan& plan, size_t entry,
                          const PlanMachine& machine) {
  if (!machine.is_own || !plan.notes.has_value()) return nullptr;
  if (entry >= plan.notes->entries.size()) return nullptr;
  return &plan.notes->entries[entry];
}

absl::StatusOr<std::vector<double>> NotedSeconds(const Plan& plan,
                                                 size_t entry) {
  const Graph& graph = *plan.entries[entry].graph;
  std::vector<double> seconds(graph.node_id_bound(), 0);
  for (const NodeNote& note : plan.notes->entries[entry].nodes) {
    if (!note.node.valid() || note.node.index >= graph.node_id_bound()) {
      return BadNote(plan.entries[entry],
                     "a note on a node that does not exist");
    }
    if (!std::isfinite(note.seconds) || note.seconds < 0) {
      return BadNote(plan.entries[entry],
                     absl::StrCat("node seconds ", note.seconds));
    }
    seconds[note.node.index] = note.seconds;
  }
  return seconds;
}

absl::StatusOr<std::vector<double>> NodeSecondsOf(const Plan& plan,
                                                  size_t entry,
                                                  const PlanMachine& machine) {
  const EntryNotes* notes = NotesOf(plan, entry, machine);
  if (notes == nullptr || machine.machine.profile.hash.empty()) {
    return CatalogSeconds(*plan.entries[entry].graph, machine.machine);
  }
  return NotedSeconds(plan, entry);
}

}  // namespace partita
