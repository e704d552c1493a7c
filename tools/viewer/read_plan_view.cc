// Reads a plan: boxes, then commands with their times, then derived data.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "placement/simulate/memory_curve.h"
#include "runtime/plan/checker/prove_plan.h"
#include "runtime/plan/command_titles.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_layout.h"
#include "tools/viewer/equal_devices.h"
#include "tools/viewer/findings.h"
#include "tools/viewer/link_loads.h"
#include "tools/viewer/memory_blocks.h"
#include "tools/viewer/plan_view.h"
#include "tools/viewer/read_boxes.h"
#include "tools/viewer/transfer_ledger.h"

namespace partita {
namespace {

bool GoodSeconds(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

absl::Status BadNote(const Entry& entry, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "notes of entry @", entry.name, ": found ", found,
      "; expected the notes that compile wrote; compile the plan again, or "
      "remove its notes"));
}

absl::Status ReadNodeNotes(const Entry& entry, const EntryNotes& notes,
                           const BoxIndex& index, ViewedEntry& view) {
  for (const NodeNote& note : notes.nodes) {
    if (note.node.index < 0 ||
        note.node.index >= static_cast<int>(index.by_node.size())) {
      return BadNote(entry, "a note on a node that does not exist");
    }
    if (!GoodSeconds(note.seconds)) {
      return BadNote(entry, absl::StrCat("node seconds ", note.seconds));
    }
    const int box = index.by_node[note.node.index];
    if (box < 0) continue;
    view.boxes[box].reason = note.reason;
    view.boxes[box].seconds = note.seconds;
  }
  return absl::OkStatus();
}

int BoxOf(const Command& command, const BoxIndex& index) {
  switch (command.kind) {
    case Command::Kind::kRecord:
    case Command::Kind::kWait:
      return -1;
    case Command::Kind::kFeed:
      return index.by_input[command.port];
    case Command::Kind::kFetch:
      return index.by_output[command.port];
    default:
      return index.by_node[command.instance.node.index];
  }
}

void ReadCommands(const CommandTitles& titles,
                  absl::Span<const Command> commands, const BoxIndex& index,
                  ViewedEntry& view) {
  for (const Command& command : commands) {
    CommandView shown;
    shown.stream = command.stream.index;
    shown.kind = std::string(CommandKindName(command.kind));
    shown.title = titles.TitleOf(command);
    shown.box = BoxOf(command, index);
    shown.event = command.event.index;
    const int box = shown.box;
    const CommandId id = view.commands.Add(std::move(shown));
    if (box >= 0) view.boxes[box].commands.push_back(id);
  }
}

// The notes' times or, without any, the launch order.
absl::StatusOr<Simulation> NotedTimes(const Entry& entry,
                                      const EntryNotes* notes,
                                      size_t num_commands) {
  Simulation times;
  if (notes == nullptr || notes->predicted.empty()) {
    for (size_t c = 0; c < num_commands; ++c) {
      const double start = static_cast<double>(c);
      times.commands.Add({start, start + 1, {}});
    }
    return times;
  }
  if (notes->predicted.size() != num_commands) {
    return BadNote(entry, absl::StrCat("times of ", notes->predicted.size(),
                                       " commands of ", num_commands));
  }
  for (const CommandNote& note : notes->predicted) {
    if (!GoodSeconds(note.start_seconds) || !GoodSeconds(note.end_seconds) ||
        note.end_seconds < note.start_seconds) {
      return BadNote(entry, absl::StrCat("a command from ", note.start_seconds,
                                         " to ", note.end_seconds, " s"));
    }
    times.commands.Add({note.start_seconds, note.end_seconds, {}});
  }
  return times;
}

// The highest of each run of `step` points.
std::vector<std::pair<double, int64_t>> Thinned(
    const std::vector<MemoryPoint>& curve) {
  const size_t step = std::max<size_t>(
      1, (curve.size() + kMaxShownPoints - 1) / kMaxShownPoints);
  std::vector<std::pair<double, int64_t>> points;
  for (size_t i = 0; i < curve.size(); i += step) {
    const auto end = curve.begin() + std::min(i + step, curve.size());
    const auto highest = std::max_element(
        curve.begin() + i, end,
        [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    points.emplace_back(highest->time, highest->bytes);
  }
  return points;
}

// The notes are read in any case, so that damaged ones are refused.
absl::StatusOr<Simulation> ReadTimes(const Plan& plan, int number,
                                     const EntryNotes* notes,
                                     size_t num_commands,
                                     const ViewedMachine* machine,
                                     ViewedEntry& view) {
  PARTITA_ASSIGN_OR_RETURN(
      Simulation times, NotedTimes(plan.entries[number], notes, num_commands));
  if (machine != nullptr) {
    PARTITA_ASSIGN_OR_RETURN(times, Simulate(plan, number, machine->machine,
                                             machine->node_seconds[number]));
    view.step_seconds = times.step_seconds;
  }
  view.simulated = machine != nullptr;
  view.timed = view.simulated || (notes && !notes->predicted.empty());
  for (const SimulatedCommand& time : times.commands) {
    view.end = std::max(view.end, time.end);
  }
  return times;
}

void ReadPrices(const std::vector<double>& node_seconds, ViewedEntry& view) {
  for (BoxView& box : view.boxes) {
    if (box.node.valid()) box.seconds = node_seconds[box.node.index];
  }
}

// A command is on the path from the end of its cause to its own end.
void ReadPath(const Simulation& times, ViewedEntry& view) {
  double before = 0;
  for (CommandId c : times.critical_path) {
    const double end = times.commands[c].end;
    const double seconds = end - before;
    before = end;
    if (seconds <= 0) continue;
    if (static_cast<size_t>(c.index) >= view.commands.size()) return;
    view.path.push_back({c, seconds});
  }
}

absl::Status ReadMemory(const Plan& plan, int entry,
                        const CommandList& commands, const Simulation& times,
                        const BoxIndex& boxes, ViewedEntry& view) {
  PARTITA_ASSIGN_OR_RETURN(const auto curves, MemoryCurves(plan, entry, times));
  PARTITA_ASSIGN_OR_RETURN(auto blocks,
                           MemoryBlocks(plan, entry, commands, times, boxes));
  const size_t most =
      kMaxShownBlocks /
      std::max<size_t>(1, plan.entries.size() * plan.devices.size());
  const int depth = PlanDepth(plan);
  for (size_t d = 0; d < curves.size(); ++d) {
    MemoryView memory;
    memory.device = static_cast<int>(d);
    memory.limit = plan.devices[d].memory;
    memory.arena = ArenaBytes(plan.devices[d], depth);
    memory.persistent = plan.devices[d].persistent_bytes;
    for (const MemoryPoint& point : curves[d]) {
      memory.peak = std::max(memory.peak, point.bytes);
    }
    memory.points = Thinned(curves[d]);
    const size_t shown = std::min(blocks[d].size(), most);
    memory.blocks_left_out = static_cast<int64_t>(blocks[d].size() - shown);
    blocks[d].resize(shown);
    memory.blocks = std::move(blocks[d]);
    view.memory.push_back(std::move(memory));
  }
  return absl::OkStatus();
}

void ReadTransfers(const Plan& plan, const Entry& entry,
                   IdSpan<CommandId, Command> commands, ViewedEntry& view) {
  view.transfers = TransferLedger(plan, entry, commands, view);
  for (const TransferView& transfer : view.transfers) {
    if (transfer.from == kCaller || transfer.to == kCaller) continue;
    ++view.transfer_totals.count;
    view.transfer_totals.bytes += transfer.bytes;
    if (transfer.hidden) ++view.transfer_totals.hidden;
  }
  const size_t shown =
      std::min(view.transfers.size(), kMaxShownTransfers / plan.entries.size());
  view.transfers_left_out = static_cast<int64_t>(view.transfers.size() - shown);
  view.transfers.resize(shown);
}

// The plan's notes of the entry; null if it has none.
const EntryNotes* FindNotes(const Plan& plan, int entry) {
  if (!plan.notes.has_value()) return nullptr;
  if (entry >= static_cast<int>(plan.notes->entries.size())) return nullptr;
  return &plan.notes->entries[entry];
}

absl::Status ReadNotes(const Entry& entry, const EntryNotes& notes,
                       const ViewedMachine* machine, const BoxIndex& boxes,
                       ViewedEntry& view) {
  PARTITA_RETURN_IF_ERROR(ReadNodeNotes(entry, notes, boxes, view));
  if (!GoodSeconds(notes.step_seconds) || !GoodSeconds(notes.bound_seconds)) {
    return BadNote(entry, "a step of no length");
  }
  // Of the plan's own machine.
  if (machine == nullptr) view.step_seconds = notes.step_seconds;
  if (machine != nullptr && !machine->is_own) return absl::OkStatus();
  view.bound_seconds = notes.bound_seconds;
  view.bound_by = notes.bound_by;
  return absl::OkStatus();
}

absl::StatusOr<ViewedEntry> ReadEntry(const Plan& plan, int index,
                                      const ViewedMachine* machine) {
  const Entry& entry = plan.entries[index];
  const EntryNotes* notes = FindNotes(plan, index);
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  ViewedEntry view;
  view.name = entry.name;
  const BoxIndex boxes = ReadBoxes(plan, entry, view);
  if (notes != nullptr) {
    PARTITA_RETURN_IF_ERROR(ReadNotes(entry, *notes, machine, boxes, view));
  }
  PARTITA_ASSIGN_OR_RETURN(
      const Simulation times,
      ReadTimes(plan, index, notes, commands.size(), machine, view));
  for (const Stream& stream : entry.streams) {
    view.streams.push_back({stream.name, stream.device.index});
  }
  const auto shown = absl::MakeConstSpan(commands).first(
      std::min(commands.size(), kMaxShownCommands / plan.entries.size()));
  view.commands_left_out = static_cast<int64_t>(commands.size() - shown.size());
  ReadCommands(CommandTitles(plan, entry), shown, boxes, view);
  for (CommandId c : view.commands.ids()) {
    const SimulatedCommand& time = times.commands[c];
    view.commands[c].start = time.start;
    view.commands[c].end = time.end;
    view.commands[c].cause = time.cause;
  }
  ReadPath(times, view);
  PARTITA_RETURN_IF_ERROR(
      ReadMemory(plan, index, commands, times, boxes, view));
  ReadTransfers(plan, entry, {shown.data(), shown.size()}, view);
  if (machine != nullptr) {
    ReadPrices(machine->node_seconds[index], view);
    PARTITA_RETURN_IF_ERROR(ReadLinkLoads(
        plan, index, {shown.data(), shown.size()}, *machine, view));
  }
  return view;
}

}  // namespace

absl::StatusOr<PlanView> ReadPlanView(const Plan& plan,
                                      const ViewedMachine* machine) {
  PlanView view;
  PARTITA_ASSIGN_OR_RETURN(view.certificate, ProvePlan(plan));
  view.certificate.plan_hash = PlanHash(plan);
  view.carried = plan.certificate.has_value();
  view.name = plan.name;
  if (plan.notes.has_value()) view.summary = plan.notes->summary;
  for (const PlanDevice& device : plan.devices) {
    view.devices.push_back({device.traits.name,
                            std::string(DeviceKindName(device.traits.kind)),
                            device.memory});
  }
  if (machine != nullptr) ReadTopology(machine->machine, view);
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(ViewedEntry entry,
                             ReadEntry(plan, static_cast<int>(e), machine));
    view.entries.push_back(std::move(entry));
  }
  view.equal_devices = EqualDevices(view);
  for (ViewedEntry& entry : view.entries) {
    entry.findings = FindingsOf(view, entry);
  }
  return view;
}

}  // namespace partita
