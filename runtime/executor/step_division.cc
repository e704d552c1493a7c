// Finds the longest runs of commands that need no host between them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/step_division.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

using Kind = Action::Kind;

class Divider {
 public:
  Divider(const EntryContext& context, absl::Span<const FedAction> actions)
      : context_(context) {
    absl::flat_hash_set<CommandId> fed;
    for (const FedAction& fed_action : actions) {
      fed.insert(fed_action.action().command);
    }
    for (const CommandId c : context.commands->ids()) {
      const Command& command = (*context.commands)[c];
      if (command.event.valid() && !fed.contains(c)) {
        seen_by_others_.insert(command.event);
      }
    }
  }

  bool MayBeInGraph(const FedAction& fed) const {
    const Action& action = fed.action();
    switch (action.kind) {
      case Kind::kKernel:
        return action.kernel->Describe(action.args).has_value();
      case Kind::kCopy:
        return IsInMemoryOfDevices((*context_.commands)[action.command]);
      case Kind::kFeed:
      case Kind::kFetch:
        return action.staging != nullptr &&
               IsInMemoryOfDevices((*context_.commands)[action.command]);
      case Kind::kRecord:
      case Kind::kWait:
        return !seen_by_others_.contains(
            (*context_.commands)[action.command].event);
      case Kind::kCollective:
      case Kind::kSend:
      case Kind::kRecv:
      case Kind::kSleep:
        return false;
    }
    return false;
  }

 private:
  // Other commands read or write pageable memory, and may wait on the host:
  // those of a CPU's stream too, which a GPU runs if it copies from there.
  bool IsInMemoryOfDevices(const Command& command) const {
    for (const auto* buffers : {&command.operands, &command.results}) {
      for (const BufferId buffer : *buffers) {
        const DeviceId device = context_.entry->buffers[buffer.index].device;
        if ((*context_.devices)[device.index]
                ->properties()
                .host_accesses_arenas) {
          return false;
        }
      }
    }
    return true;
  }

  const EntryContext& context_;
  // Events that streams of other launchers record or wait for.
  absl::flat_hash_set<EventId> seen_by_others_;
};

// Of the session, or of a device that launches none; or "".
std::string WhyNoGraphs(const EntryState& state,
                        absl::Span<const FedAction> actions) {
  if (state.launch_blocking) {
    return absl::StrCat(kLaunchBlockingVariable, " is set");
  }
  if (!state.launch_graphs) return "the session launches no graphs";
  for (const FedAction& fed : actions) {
    const Device& device = fed.stream->device();
    if (!device.properties().launches_graphs) {
      return absl::StrCat(device.traits().name, " launches no graphs");
    }
  }
  return "";
}

}  // namespace

bool DoesWork(const Action& action) {
  return action.kind != Kind::kRecord && action.kind != Kind::kWait;
}

StepDivision DivideStep(const EntryState& state,
                        absl::Span<const FedAction> actions) {
  StepDivision division;
  division.why_no_graphs = WhyNoGraphs(state, actions);
  if (!division.why_no_graphs.empty()) return division;
  const Divider divider(state.context, actions);
  bool has_work = false;
  for (size_t i = 0; i < actions.size(); ++i) {
    const bool in_graph = divider.MayBeInGraph(actions[i]);
    has_work |= in_graph && DoesWork(actions[i].action());
    if (division.runs.empty() || division.runs.back().in_graph != in_graph) {
      division.runs.push_back({in_graph, i, i});
    }
    division.runs.back().end = i + 1;
  }
  if (has_work) return division;
  return {.why_no_graphs = "no command can be in a graph"};
}

}  // namespace partita
