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
absl::StatusOr<Simulation> Times(const Entry& entry, const EntryNotes* notes,
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

absl::Status ReadMemory(const Plan& plan, int entry, const Simulation& times,
                        ViewedEntry& view) {
  PARTITA_ASSIGN_OR_RETURN(const auto curves, MemoryCurves(plan, entry, times));
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
    view.memory.push_back(std::move(memory));
  }
  return absl::OkStatus();
}

absl::StatusOr<ViewedEntry> ReadEntry(const Plan& plan, int index) {
  const Entry& entry = plan.entries[index];
  const EntryNotes* notes =
      plan.notes.has_value() &&
              index < static_cast<int>(plan.notes->entries.size())
          ? &plan.notes->entries[index]
          : nullptr;
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  PARTITA_ASSIGN_OR_RETURN(const Simulation times,
                           Times(entry, notes, commands.size()));
  ViewedEntry view;
  view.name = entry.name;
  view.depth = entry.depth;
  const BoxIndex boxes = ReadBoxes(plan, entry, view);
  if (notes != nullptr) {
    view.timed = !notes->predicted.empty();
    view.step_seconds = notes->step_seconds;
    view.bound_seconds = notes->bound_seconds;
    PARTITA_RETURN_IF_ERROR(ReadNodeNotes(entry, *notes, boxes, view));
  }
  if (!GoodSeconds(view.step_seconds) || !GoodSeconds(view.bound_seconds)) {
    return BadNote(entry, "a step of no length");
  }
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
  }
  for (const SimulatedCommand& time : times.commands) {
    view.end = std::max(view.end, time.end);
  }
  PARTITA_RETURN_IF_ERROR(ReadMemory(plan, index, times, view));
  view.transfers =
      TransferLedger(plan, entry, {shown.data(), shown.size()}, view);
  return view;
}

}  // namespace

absl::StatusOr<PlanView> ReadPlanView(const Plan& plan) {
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
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    PARTITA_ASSIGN_OR_RETURN(ViewedEntry entry,
                             ReadEntry(plan, static_cast<int>(e)));
    view.entries.push_back(std::move(entry));
  }
  return view;
}

}  // namespace partita
