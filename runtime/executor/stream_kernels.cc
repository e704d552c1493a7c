// Binds each node once, however many commands launch it.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_kernels.h"

#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/device/host_arena.h"

namespace partita {
namespace {

// The plan's code for a device, or null.
const CodeObject* FindCode(const Plan& plan, const DeviceTraits& device) {
  const auto code = absl::c_find_if(
      plan.code_objects, [target = CodeTargetOf(device)](const CodeObject& c) {
        return c.target == target;
      });
  return code == plan.code_objects.end() ? nullptr : &*code;
}

// Host code uses the pointers that it is launched with.
absl::Status CheckAccess(const Device& device) {
  const DeviceProperties& properties = device.properties();
  const bool host_computes =
      properties.computed_by == ComputedBy::kHostKernels ||
      RunsHostCode(device.traits());
  if (!host_computes || properties.host_accesses_arenas) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat(
      "found kernels of the host on ", device.traits().name,
      ", whose memory the host cannot access; expected a device whose memory "
      "it can access, such as a CPU"));
}

}  // namespace

absl::StatusOr<std::vector<BoundCommand>> StreamKernels::BindAll() {
  const EntryContext& context = state_.context;
  const std::vector<CommandId>& ids = (*context.of_stream)[id_];
  std::vector<BoundCommand> all(ids.size());
  const ComputedBy computed_by = device_.properties().computed_by;
  if (computed_by == ComputedBy::kNothing) return all;
  // Invocations of one command share a kernel: launches on a stream never
  // overlap, and kernels are stateless.
  absl::flat_hash_map<std::tuple<NodeId, int, MicroBatchId>, BoundCommand>
      by_instance;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Command& command = (*context.commands)[ids[i]];
    if (command.kind != Command::Kind::kKernel) continue;
    const bool own_of_micro_batch = ChangesWithMicroBatch(
        context.entry->graph->view(command.instance.node));
    const std::tuple instance = {
        command.instance.node, command.instance.rank,
        own_of_micro_batch ? command.instance.micro_batch : kFirstMicroBatch};
    auto found = by_instance.find(instance);
    if (found == by_instance.end()) {
      absl::StatusOr<BoundCommand> bound = Bind(command);
      if (!bound.ok()) {
        return AtCommand(
            DescribeCommand(*context.plan, *context.entry, command, ids[i]),
            bound.status());
      }
      found = by_instance.emplace(instance, *bound).first;
    }
    all[i] = found->second;
    if (all[i].replaced.has_value()) {
      AddReplacedKernels({&*all[i].replaced, 1}, replaced_);
    }
  }
  return all;
}

absl::StatusOr<OpView> StreamKernels::NodeOf(const Command& command) {
  const OpView node = state_.context.entry->graph->view(command.instance.node);
  if (!HasOwnShards(node)) return node;
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<Graph> shard,
      ShardOfNode(node, command.instance.rank, command.instance.micro_batch));
  shards_.push_back(std::move(shard));
  return shards_.back()->ops().front();
}

absl::StatusOr<BoundCommand> StreamKernels::Bind(const Command& command) {
  PARTITA_RETURN_IF_ERROR(CheckAccess(device_));
  PARTITA_ASSIGN_OR_RETURN(const OpView node, NodeOf(command));
  if (!node.node().kernel.has_value()) {
    return absl::InvalidArgumentError(
        "found no kernel on the node; expected the plan to bind one");
  }
  BindRequest request = {.node = node,
                         .binding = &*node.node().kernel,
                         .device = &device_.traits()};
  if (state_.trust_code) {
    request.code = FindCode(*state_.context.plan, device_.traits());
  }
  PARTITA_ASSIGN_OR_RETURN(
      BoundKernel kernel,
      BindKernel(request, *state_.libraries,
                 device_.properties().computed_by == ComputedBy::kHostKernels));
  kernels_.push_back(std::move(kernel.kernel));
  BoundCommand bound = {kernels_.back().get(), nullptr,
                        ReplacementOf(request, kernel)};
  if (kernel.outside_scratch > 0) {
    PARTITA_ASSIGN_OR_RETURN(bound.outside_scratch,
                             OutsideScratch(kernel.outside_scratch));
  }
  return bound;
}

// Launches on a stream do not overlap, so all use the largest scratch so far.
absl::StatusOr<void*> StreamKernels::OutsideScratch(int64_t bytes) {
  if (scratch_.empty() || scratch_.back()->size() < bytes) {
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<HostArena> arena,
        HostArena::New(device_.traits().name, bytes, 4096, /*guarded=*/false));
    scratch_.push_back(std::move(arena));
  }
  return scratch_.back()->base();
}

}  // namespace partita
