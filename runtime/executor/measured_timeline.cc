// Names and tracks of measured commands.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/measured_timeline.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/command_titles.h"

namespace partita {

absl::StatusOr<Timeline> MeasuredTimeline(
    const Plan& plan, const Entry& entry, const Devices& devices,
    const std::vector<MeasuredCommand>& trace) {
  PARTITA_ASSIGN_OR_RETURN(const CommandList commands, Expand(entry));
  if (trace.size() != commands.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("entry @", entry.name, ": found a trace of ", trace.size(),
                     " commands; expected ", commands.size(),
                     "; run a step with RunOptions::trace"));
  }
  const CommandTitles titles(plan, entry);
  Timeline timeline;
  timeline.name = "measured";
  for (const Stream& stream : entry.streams) {
    timeline.tracks.push_back(
        {plan.devices[stream.device.index].traits.name, stream.name,
         devices[stream.device.index]->properties().emulated});
  }
  for (const MeasuredCommand& measured : trace) {
    const Command& command = commands[CommandId(measured.command)];
    TraceSpan span;
    span.track = command.stream.index;
    span.name = titles.TitleOf(command);
    span.category = std::string(CommandKindName(command.kind));
    span.start = measured.start_seconds;
    span.end = measured.end_seconds;
    span.details.push_back({"command", absl::StrCat(measured.command)});
    timeline.spans.push_back(std::move(span));
  }
  return timeline;
}

}  // namespace partita
