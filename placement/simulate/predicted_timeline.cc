// Converts a simulation to tracks, spans and points.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/predicted_timeline.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/simulate/memory_curve.h"
#include "runtime/plan/command_titles.h"

namespace partita {

absl::StatusOr<Timeline> PredictedTimeline(const Plan& plan, int entry_index,
                                           const Simulation& simulation) {
  const Entry& entry = plan.entries[entry_index];
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  PARTITA_ASSIGN_OR_RETURN(const auto curves,
                           MemoryCurves(plan, entry_index, simulation));
  const CommandTitles titles(plan, entry);
  Timeline timeline;
  timeline.name = "predicted";
  for (const Stream& stream : entry.streams) {
    timeline.tracks.push_back(
        {plan.devices[stream.device.index].traits.name, stream.name});
  }
  for (CommandId id : simulation.commands.ids()) {
    const Command& command = commands[id];
    timeline.spans.push_back({command.stream.index,
                              titles.TitleOf(command),
                              std::string(CommandKindName(command.kind)),
                              simulation.commands[id].start,
                              simulation.commands[id].end,
                              {{"command", absl::StrCat(id.index)}}});
  }
  for (size_t d = 0; d < curves.size(); ++d) {
    for (const MemoryPoint& point : curves[d]) {
      timeline.points.push_back({plan.devices[d].traits.name, "memory",
                                 point.time, static_cast<double>(point.bytes)});
    }
  }
  return timeline;
}

}  // namespace partita
