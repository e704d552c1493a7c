// Computes the costs of the commands of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/command_cost.h"

#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/node_kernels.h"
#include "graph/status_macros.h"
#include "placement/cost/cache_reuse.h"
#include "placement/cost/host_cores.h"
#include "placement/cost/node_roles.h"
#include "placement/simulate/collective_seconds.h"
#include "runtime/plan/command_places.h"

namespace partita {
namespace {

using On = CommandCost::On;

absl::StatusOr<double> SecondsOfNode(const OpView& node, const Machine& machine,
                                     const KernelCatalog& catalog,
                                     const CacheReuse& reuse) {
  const Placement& placement = node.node().placement;
  std::vector<const DeviceTraits*> devices;
  for (const std::string& name : placement.devices) {
    const MachineDevice* device = machine.FindDevice(name);
    if (device == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(node.ToString(), ": found device ", name,
                       "; expected one of machine ", machine.name,
                       "; take the machine that the plan is for"));
    }
    devices.push_back(&device->traits);
  }
  PARTITA_ASSIGN_OR_RETURN(const std::vector<NodeRank> ranks,
                           RanksOf(node, placement, devices));
  const std::vector<KernelChoice> choices =
      CommonChoices(placement, ranks, catalog);
  if (const KernelChoice* bound = BoundChoice(node, choices)) {
    return SecondsInStep(bound->seconds, bound->by_caches,
                         reuse.DisplacedShare(node.id(), *devices.front()));
  }
  return absl::UnimplementedError(absl::StrCat(
      node.ToString(), ": found no kernel that is on ",
      absl::StrJoin(placement.devices, " and "), " of machine ", machine.name,
      "; expected one; take the machine that the plan is for"));
}

template <typename SomeId>
bool IsIn(SomeId id, size_t size) {
  return id.valid() && static_cast<size_t>(id.index) < size;
}

absl::Status UnknownId() {
  return absl::InvalidArgumentError(
      "found an id that does not exist; expected a plan that the checker "
      "accepts");
}

class Pricer {
 public:
  Pricer(const Plan& plan, const Entry& entry, const Machine& machine,
         absl::Span<const double> node_seconds)
      : plan_(plan),
        entry_(entry),
        links_(machine),
        cores_(machine),
        node_seconds_(node_seconds) {
    for (const MachineDevice& device : machine.devices) {
      if (!TraitsOf(device.traits.kind).shares_host) continue;
      host_devices_.push_back(&device.traits);
    }
  }

  absl::StatusOr<CommandCost> Price(const Command& command) {
    PARTITA_RETURN_IF_ERROR(CheckIds(command));
    switch (command.kind) {
      case Command::Kind::kRecord:
      case Command::Kind::kWait:
      case Command::Kind::kRecv:
        return CommandCost{.device = DeviceOf(command.stream)};
      case Command::Kind::kKernel:
        return PriceKernel(command);
      case Command::Kind::kCopy:
        return PriceTransfer("copy", SizeOf(command.operands[0]),
                             buffer(command.operands[0]).device,
                             buffer(command.results[0]).device);
      case Command::Kind::kFeed:
        return PricePort(command.results[0], true);
      case Command::Kind::kFetch:
        return PricePort(command.operands[0], false);
      case Command::Kind::kSend:
        return PriceSend(command);
      case Command::Kind::kCollective:
        return PriceCollective(command);
    }
    return UnknownId();
  }

 private:
  // The checker may not have seen the plan, so any id may be out of range.
  absl::Status CheckIds(const Command& command) const {
    const auto known = [&](BufferId id) { return IsKnown(id); };
    using Kind = Command::Kind;
    const Kind kind = command.kind;
    const bool is_collective = kind == Kind::kCollective;
    const bool sends = kind == Kind::kSend;
    const bool receives = kind == Kind::kRecv;
    const bool reads =
        is_collective || sends || kind == Kind::kCopy || kind == Kind::kFetch;
    const bool writes =
        is_collective || receives || kind == Kind::kCopy || kind == Kind::kFeed;
    const bool good =
        IsKnown(command.stream) && absl::c_all_of(command.operands, known) &&
        absl::c_all_of(command.results, known) &&
        (!reads || command.operands.size() == 1 || is_collective) &&
        (!writes || command.results.size() == 1 || is_collective) &&
        ((kind != Kind::kKernel && !is_collective) ||
         IsIn(command.instance.node, node_seconds_.size())) &&
        (!is_collective || IsIn(command.group, entry_.groups.size())) &&
        (!(sends || receives) || IsKnown(command.channel)) &&
        ((kind != Kind::kRecord && kind != Kind::kWait) ||
         IsIn(command.event, entry_.num_events));
    if (good) return absl::OkStatus();
    return UnknownId();
  }

  bool IsKnown(BufferId id) const {
    return IsIn(id, entry_.buffers.size()) &&
           IsIn(entry_.buffers[id.index].device, plan_.devices.size());
  }
  bool IsKnown(StreamId stream) const {
    return IsIn(stream, entry_.streams.size()) &&
           IsIn(entry_.streams[stream.index].device, plan_.devices.size());
  }
  bool IsKnown(ChannelId id) const {
    if (!IsIn(id, entry_.channels.size())) return false;
    const Channel& channel = entry_.channels[id.index];
    return IsKnown(channel.sender) && IsKnown(channel.receiver) &&
           absl::c_all_of(channel.slots,
                          [&](BufferId slot) { return IsKnown(slot); });
  }

  DeviceId DeviceOf(StreamId stream) const {
    return entry_.streams[stream.index].device;
  }
  const Buffer& buffer(BufferId id) const { return entry_.buffers[id.index]; }
  int64_t SizeOf(BufferId id) const { return buffer(id).range.size(); }
  const DeviceTraits& traits(DeviceId device) const {
    return plan_.devices[device.index].traits;
  }

  CommandCost PriceKernel(const Command& command) const {
    CommandCost cost;
    cost.on = On::kCompute;
    cost.device = DeviceOf(command.stream);
    cost.seconds = node_seconds_[command.instance.node.index];
    cost.cores = cores_.OfKernel(traits(cost.device));
    return cost;
  }

  // All ranks of a collective with equal shards take the same time, and so do
  // its micro-batches.
  absl::StatusOr<CommandCost> PriceCollective(const Command& command) {
    int64_t bytes = 0;
    for (BufferId operand : command.operands) bytes += SizeOf(operand);
    const CollectiveKey key{command.instance.node, command.group, bytes};
    auto seconds = collective_seconds_.find(key);
    if (seconds == collective_seconds_.end()) {
      PARTITA_ASSIGN_OR_RETURN(const double all, SecondsOf(command, bytes));
      seconds = collective_seconds_.emplace(key, all).first;
    }
    CommandCost cost;
    cost.on = On::kCollective;
    cost.device = DeviceOf(command.stream);
    cost.seconds = seconds->second + traits(cost.device).launch_seconds;
    cost.cores = cores_.OfRank(traits(cost.device));
    return cost;
  }

  absl::StatusOr<double> SecondsOf(const Command& command,
                                   int64_t bytes) const {
    std::vector<std::string> ranks;
    for (StreamId stream : entry_.groups[command.group.index].ranks) {
      if (!IsIn(stream, entry_.streams.size())) return UnknownId();
      ranks.push_back(traits(DeviceOf(stream)).name);
    }
    return SecondsOfCollective(entry_.graph->view(command.instance.node),
                               static_cast<double>(bytes), ranks, links_);
  }

  CommandCost PriceLocal(DeviceId device, int64_t bytes) const {
    CommandCost cost;
    cost.on = On::kDevice;
    cost.device = device;
    cost.seconds = links_.machine()
                       .LocalCopyOf(traits(device))
                       .SecondsOf(static_cast<double>(bytes));
    cost.cores = cores_.OfLocalCopy(traits(device));
    return cost;
  }

  CommandCost PriceLink(const Link& link, bool forward, DeviceId device,
                        int64_t bytes) const {
    return {.on = On::kLink,
            .device = device,
            .seconds = link.latency,
            .link = &link,
            .forward = forward,
            .bytes = static_cast<double>(bytes)};
  }

  absl::StatusOr<CommandCost> PriceSend(const Command& command) const {
    const Channel& channel = entry_.channels[command.channel.index];
    return PriceTransfer("message", SizeOf(command.operands[0]),
                         DeviceOf(channel.sender), DeviceOf(channel.receiver));
  }

  absl::StatusOr<CommandCost> PriceTransfer(absl::string_view what,
                                            int64_t bytes, DeviceId from,
                                            DeviceId to) const {
    if (from == to) return PriceLocal(to, bytes);
    const std::string& source_name = traits(from).name;
    const std::string& target_name = traits(to).name;
    const Link* link = links_.Find(source_name, target_name);
    if (link == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "found a ", what, " from ", source_name, " to ", target_name,
          " and no link between them in machine ", links_.machine().name,
          "; expected one; simulate on the machine that the plan is for"));
    }
    CommandCost cost = PriceLink(*link, link->from == source_name, to, bytes);
    cost.cores = cores_.OfCopy(traits(from), traits(to));
    return cost;
  }

  // Feeds and fetches of a device that shares the host are copies in its
  // memory; those of others take the link to such a device. If the machine has
  // none, they count as local.
  absl::StatusOr<CommandCost> PricePort(BufferId id, bool feed) const {
    const DeviceId device = buffer(id).device;
    const int64_t bytes = SizeOf(id);
    if (TraitsOf(traits(device).kind).shares_host || host_devices_.empty()) {
      return PriceLocal(device, bytes);
    }
    const std::string& name = traits(device).name;
    for (const DeviceTraits* host : host_devices_) {
      const Link* link = links_.Find(host->name, name);
      if (link == nullptr) continue;
      return PriceLink(*link, (link->from == host->name) == feed, device,
                       bytes);
    }
    return absl::FailedPreconditionError(absl::StrCat(
        "found ", feed ? "an input that is fed to " : "an output fetched from ",
        name, " and no link between it and a CPU in machine ",
        links_.machine().name,
        "; expected one; add the link, or pin the readers of inputs and the "
        "makers of outputs to other devices"));
  }

  // The node, the group, and the bytes that the rank gives.
  using CollectiveKey = std::tuple<NodeId, GroupId, int64_t>;

  const Plan& plan_;
  const Entry& entry_;
  const LinkTable links_;
  const HostCores cores_;
  const absl::Span<const double> node_seconds_;
  std::vector<const DeviceTraits*> host_devices_;
  absl::flat_hash_map<CollectiveKey, double> collective_seconds_;
};

}  // namespace

absl::StatusOr<std::vector<double>> PlacedNodeSeconds(
    const Graph& graph, const Machine& machine, const KernelCatalog& catalog) {
  std::vector<double> seconds(graph.node_id_bound(), 0);
  const CacheReuse reuse(graph, machine);
  for (const OpView& node : graph.ops()) {
    if (IsStored(node) || node.is(kCopy) || node.is(kBucket) ||
        !node.node().placement.placed()) {
      continue;
    }
    // A view has a kernel only if it changes the layout.
    if (IsView(node) && !node.node().kernel.has_value()) continue;
    PARTITA_ASSIGN_OR_RETURN(seconds[node.id().index],
                             SecondsOfNode(node, machine, catalog, reuse));
  }
  return seconds;
}

absl::StatusOr<IdVector<CommandId, CommandCost>> CostCommands(
    const Plan& plan, const Entry& entry, IdSpan<CommandId, Command> commands,
    const Machine& machine, absl::Span<const double> node_seconds) {
  Pricer pricer(plan, entry, machine, node_seconds);
  IdVector<CommandId, CommandCost> costs;
  for (CommandId id : commands.ids()) {
    absl::StatusOr<CommandCost> cost = pricer.Price(commands[id]);
    if (!cost.ok()) {
      return absl::Status(
          cost.status().code(),
          absl::StrCat("plan @", plan.name, ": ", CommandPlaces(entry).Text(id),
                       ": ", cost.status().message()));
    }
    costs.Add(*cost);
  }
  return costs;
}

}  // namespace partita
