// Asks the simulator's prices which link a command takes.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/link_loads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/machine/link_table.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/collective.h"
#include "tools/viewer/collective_sends.h"
#include "tools/viewer/covered_time.h"

namespace partita {
namespace {

class LoadCounter {
 public:
  LoadCounter(const Entry& entry, const Machine& machine, ViewedEntry& view)
      : entry_(entry),
        machine_(machine),
        links_(machine),
        view_(view),
        spans_(2 * machine.links.size()) {
    view.link_loads.assign(machine.links.size(), {});
  }

  void Visit(CommandId id, const Command& command, const CommandCost& cost) {
    if (cost.on == CommandCost::On::kCollective) {
      AddCollective(id, command);
    } else if (cost.on == CommandCost::On::kLink) {
      const int link = IndexOf(*cost.link);
      view_.commands[id].link = link;
      view_.commands[id].forward = cost.forward;
      Add(link, cost.forward, id, static_cast<int64_t>(cost.bytes));
    }
  }

  void Finish() {
    for (size_t i = 0; i < spans_.size(); ++i) {
      view_.link_loads[i / 2][i % 2].seconds =
          CoveredTime(std::move(spans_[i])).Within(0, view_.end);
    }
  }

 private:
  int IndexOf(const Link& link) const {
    return static_cast<int>(&link - machine_.links.data());
  }

  int64_t BytesOf(const Command& command, CollectiveKind kind,
                  const OpView& node) const {
    if (DefOf(kind).routes == CollectiveRoutes::kFromRoot) {
      return node.operand_type(0).num_bytes();
    }
    int64_t bytes = 0;
    for (BufferId operand : command.operands) {
      bytes += entry_.buffers[operand.index].range.size();
    }
    return bytes;
  }

  void AddCollective(CommandId id, const Command& command) {
    const std::vector<StreamId>& streams =
        entry_.groups[command.group.index].ranks;
    const auto own = std::find(streams.begin(), streams.end(), command.stream);
    const OpView node = entry_.graph->view(command.instance.node);
    const std::optional<CollectiveKind> kind = CollectiveOf(node);
    const std::vector<Participant> ranks = ParticipantsOf(node);
    if (!kind.has_value() || own == streams.end()) return;
    const auto rank = static_cast<size_t>(own - streams.begin());
    for (const RankSend& send :
         SendsOf(*kind, ranks, rank, BytesOf(command, *kind, node))) {
      const std::string& from = ranks[rank].device;
      const Link* link = links_.Find(from, ranks[send.to].device);
      if (link == nullptr) continue;  // routed another way
      Add(IndexOf(*link), link->from == from, id, send.bytes);
    }
  }

  void Add(int link, bool forward, CommandId id, int64_t bytes) {
    LinkLoad& load = view_.link_loads[link][forward ? 0 : 1];
    ++load.transfers;
    load.bytes += bytes;
    const CommandView& shown = view_.commands[id];
    spans_[2 * link + (forward ? 0 : 1)].emplace_back(shown.start, shown.end);
  }

  const Entry& entry_;
  const Machine& machine_;
  const LinkTable links_;
  ViewedEntry& view_;
  // By link and direction.
  std::vector<std::vector<std::pair<double, double>>> spans_;
};

}  // namespace

void ReadTopology(const Machine& machine, PlanView& view) {
  view.machine = machine.name;
  absl::flat_hash_map<std::string, int> used, known;
  for (size_t d = 0; d < view.devices.size(); ++d) {
    used[view.devices[d].name] = static_cast<int>(d);
  }
  for (const MachineDevice& device : machine.devices) {
    const std::string& name = device.traits.name;
    known[name] = static_cast<int>(view.machine_devices.size());
    const auto found = used.find(name);
    view.machine_devices.push_back(
        {name, std::string(DeviceKindName(device.traits.kind)),
         found == used.end() ? -1 : found->second});
  }
  for (const Link& link : machine.links) {
    view.links.push_back(
        {known[link.from], known[link.to], link.bandwidth, link.duplex});
  }
}

absl::Status ReadLinkLoads(const Plan& plan, int number,
                           IdSpan<CommandId, Command> commands,
                           const ViewedMachine& machine, ViewedEntry& view) {
  const Entry& entry = plan.entries[number];
  PARTITA_ASSIGN_OR_RETURN(const auto costs,
                           CostCommands(plan, entry, commands, machine.machine,
                                        machine.node_seconds[number]));
  LoadCounter counter(entry, machine.machine, view);
  for (CommandId c : commands.ids()) {
    counter.Visit(c, commands[c], costs[c]);
  }
  counter.Finish();
  return absl::OkStatus();
}

}  // namespace partita
