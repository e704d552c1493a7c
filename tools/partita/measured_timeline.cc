// Spans of measured commands, named as the predicted ones are.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/measured_timeline.h"

#include "absl/strings/str_cat.h"
#include "placement/simulate/predicted_timeline.h"
#include "runtime/executor/entry_runner.h"

namespace partita {

Timeline MeasuredTimeline(const Session& session) {
  const Plan& plan = session.plan();
  const Entry& entry = plan.entries[session.entry()];
  Timeline timeline{
      .name = "measured", .tracks = {}, .spans = {}, .points = {}};
  for (const Stream& stream : entry.streams) {
    timeline.tracks.push_back(
        {plan.devices[stream.device.index].traits.name, stream.name});
  }
  const absl::StatusOr<std::vector<Command>> commands = Expand(entry);
  if (!commands.ok()) return timeline;  // a loaded plan has passed the checker
  for (const MeasuredCommand& measured : session.LastTrace()) {
    const Command& command = (*commands)[measured.command];
    timeline.spans.push_back(
        {.track = command.stream.index,
         .name = CommandTitle(entry, command),
         .category = std::string(CommandKindName(command.kind)),
         .start = measured.start_seconds,
         .end = measured.end_seconds,
         .details = {{"command", absl::StrCat(measured.command)}}});
  }
  return timeline;
}

}  // namespace partita
