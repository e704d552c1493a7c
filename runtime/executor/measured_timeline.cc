// Names and places for measured commands.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/measured_timeline.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/executor/failure.h"

namespace partita {
namespace {

std::string NameOf(const Entry& entry, const Command& command,
                   const FailedCommand& described) {
  using Kind = Command::Kind;
  if (!described.node.empty()) return described.node;
  if (command.kind == Kind::kRecord || command.kind == Kind::kWait) {
    return absl::StrCat(described.kind, " ev", command.event.index);
  }
  const auto& buffers =
      command.operands.empty() ? command.results : command.operands;
  return buffers.empty() ? described.kind
                         : absl::StrCat(described.kind, " !",
                                        entry.buffers[buffers[0].index].name);
}

}  // namespace

absl::StatusOr<Timeline> MeasuredTimeline(
    const Plan& plan, const Entry& entry,
    const std::vector<MeasuredCommand>& trace) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Command> commands, Expand(entry));
  if (trace.size() != commands.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("entry @", entry.name, ": found a trace of ", trace.size(),
                     " commands; expected ", commands.size(),
                     "; run a step with RunOptions::trace"));
  }
  Timeline timeline;
  timeline.name = "measured";
  for (const Stream& stream : entry.streams) {
    timeline.tracks.push_back(
        {plan.devices[stream.device.index].traits.name, stream.name});
  }
  for (const MeasuredCommand& measured : trace) {
    const Command& command = commands[measured.command];
    const FailedCommand described =
        DescribeCommand(plan, entry, command, measured.command);
    TraceSpan span;
    span.track = command.stream.index;
    span.name = NameOf(entry, command, described);
    span.category = described.kind;
    span.start = measured.start_seconds;
    span.end = measured.end_seconds;
    span.details.push_back({"command", absl::StrCat(measured.command)});
    timeline.spans.push_back(std::move(span));
  }
  return timeline;
}

}  // namespace partita
