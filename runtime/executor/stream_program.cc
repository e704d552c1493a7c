// Resolves commands into actions with pointers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_program.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/arena_guard.h"
#include "runtime/executor/failure.h"
#include "runtime/executor/port_shard.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const EntryContext& context, StreamId stream, int slot,
                 void* native_stream, const std::vector<BoundCommand>& bound)
      : context_(context),
        stream_(stream),
        slot_(slot),
        native_stream_(native_stream),
        bound_(bound),
        program_(std::make_unique<StreamProgram>()) {
    const DeviceId device = context.entry->streams[stream.index].device;
    computed_by_ = (*context.devices)[device.index]->properties().computed_by;
  }

  absl::StatusOr<std::unique_ptr<StreamProgram>> Build() {
    ReservePointers();
    for (CommandId id : Commands()) {
      const Command& command = (*context_.commands)[id];
      if (absl::Status status = Add(command, id); !status.ok()) {
        return AtCommand(
            DescribeCommand(*context_.plan, *context_.entry, command, id),
            status);
      }
    }
    return std::move(program_);
  }

 private:
  const std::vector<CommandId>& Commands() const {
    return (*context_.of_stream)[stream_];
  }

  // Adding pointers must not invalidate the spans of earlier actions.
  void ReservePointers() {
    size_t pointers = 0;
    for (CommandId id : Commands()) {
      const Command& command = (*context_.commands)[id];
      pointers += command.operands.size() + command.results.size();
    }
    program_->pointers.reserve(pointers);
  }

  absl::Status Add(const Command& command, CommandId id) {
    Action action;
    action.command = id;
    PARTITA_RETURN_IF_ERROR(Fill(command, action));
    program_->actions.push_back(action);
    if (ArenaGuardsWork()) {
      program_->declared.push_back(Declare(command, id));
    }
    return absl::OkStatus();
  }

  absl::Status Fill(const Command& command, Action& action) {
    using Kind = Command::Kind;
    if (command.kind == Kind::kRecord || command.kind == Kind::kWait) {
      action.kind = command.kind == Kind::kRecord ? Action::Kind::kRecord
                                                  : Action::Kind::kWait;
      action.event = (*context_.events)[command.event.index].get();
      return absl::OkStatus();
    }
    if (Communicates(command)) {
      PARTITA_RETURN_IF_ERROR(FillCommunication(command, action));
    }
    if (computed_by_ == ComputedBy::kNothing) return FillSleep(command, action);
    switch (command.kind) {
      case Kind::kKernel:
        return FillKernel(command, action);
      case Kind::kCopy:
        action.kind = Action::Kind::kCopy;
        return FillTransfer(
            action, {Locate(command.results[0]), Locate(command.operands[0])});
      case Kind::kFeed:
        return FillFeed(command, action);
      case Kind::kFetch:
        return FillFetch(command, action);
      case Kind::kCollective:
        return FillCollective(command, action);
      case Kind::kSend:
        return FillSend(command, action);
      case Kind::kRecv:
        return FillRecv(command, action);
      default:
        return absl::InternalError("bug: found a command of no known kind");
    }
  }

  static bool Communicates(const Command& command) {
    return command.kind == Command::Kind::kCollective ||
           command.kind == Command::Kind::kSend ||
           command.kind == Command::Kind::kRecv;
  }

  // Devices that compute nothing wait for one another as others do.
  absl::Status FillCommunication(const Command& command, Action& action) {
    using Kind = Command::Kind;
    const bool collective = command.kind == Kind::kCollective;
    action.kind = collective                    ? Action::Kind::kCollective
                  : command.kind == Kind::kSend ? Action::Kind::kSend
                                                : Action::Kind::kRecv;
    action.communication = static_cast<int>(program_->communications.size());
    const Communication& communication =
        context_.communications->of(action.command);
    CommunicationAction role;
    role.rendezvous = communication.rendezvous;
    role.points_per_step = communication.points_per_step;
    role.number = communication.number;
    role.first_point =
        1 + communication.number *
                (collective ? Communications::kPointsOfCollective : 1);
    role.rank = command.kind == Kind::kRecv;
    if (collective) {
      const Group& group = context_.entry->groups[command.group.index];
      role.rank = static_cast<int>(absl::c_find(group.ranks, command.stream) -
                                   group.ranks.begin());
    } else {
      role.capacity = context_.entry->channels[command.channel.index].capacity;
    }
    program_->communications.push_back(std::move(role));
    return CheckReachable(communication);
  }

  // Host threads read and write the bytes of all ranks.
  absl::Status CheckReachable(const Communication& communication) const {
    for (CommandId c : communication.commands) {
      const StreamId stream = (*context_.commands)[c].stream;
      const DeviceId id = context_.entry->streams[stream.index].device;
      const Device& device = *(*context_.devices)[id.index];
      if (device.properties().host_accesses_arenas) continue;
      return absl::UnimplementedError(absl::StrCat(
          "found a rank on ", device.traits().name,
          ", whose memory the host cannot access; expected a device whose "
          "memory it can access, such as a CPU"));
    }
    return absl::OkStatus();
  }

  absl::Status FillCollective(const Command& command, const Action& action) {
    const OpView node = context_.entry->graph->view(command.instance.node);
    for (int value = 0; value < node.num_operands(); ++value) {
      PARTITA_ASSIGN_OR_RETURN(
          program_->communications[action.communication].work.emplace_back(),
          BindValue(command, action, value));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RankWork> BindValue(const Command& command,
                                     const Action& action, int value) const {
    std::vector<std::byte*> operands, results;
    for (CommandId c : context_.communications->of(action.command).commands) {
      const Command& rank = (*context_.commands)[c];
      PARTITA_ASSIGN_OR_RETURN(operands.emplace_back(),
                               BlockOf(rank.operands, value));
      PARTITA_ASSIGN_OR_RETURN(results.emplace_back(),
                               BlockOf(rank.results, value));
    }
    return BindCollective(context_.entry->graph->view(command.instance.node),
                          value, command.instance.rank, operands, results);
  }

  // Copies into a slot of the channel. A channel without slots copies straight
  // from sender to receiver, in the receive.
  absl::Status FillSend(const Command& command, Action& action) {
    const Channel& channel = context_.entry->channels[command.channel.index];
    if (channel.capacity == 0) return absl::OkStatus();
    return FillTransfer(action,
                        {SlotOf(command, action), Locate(command.operands[0])});
  }

  absl::Status FillRecv(const Command& command, Action& action) {
    const Channel& channel = context_.entry->channels[command.channel.index];
    const CommandId send =
        context_.communications->of(action.command).commands[0];
    const Blocks from = channel.capacity == 0
                            ? Locate((*context_.commands)[send].operands[0])
                            : SlotOf(command, action);
    return FillTransfer(action, {Locate(command.results[0]), from});
  }

  // The first bytes of the slot, as many as the message has.
  Blocks SlotOf(const Command& command, const Action& action) const {
    Blocks slot = Locate(SlotBuffer(command, action.command));
    const BufferId message =
        command.results.empty() ? command.operands[0] : command.results[0];
    slot.block = Locate(message).size();
    slot.count = 1;
    return slot;
  }

  BufferId SlotBuffer(const Command& command, CommandId id) const {
    const Channel& channel = context_.entry->channels[command.channel.index];
    return channel
        .slots[context_.communications->of(id).number % channel.capacity];
  }

  absl::Status FillSleep(const Command& command, Action& action) {
    if (!Communicates(command)) action.kind = Action::Kind::kSleep;
    const auto& predicted = context_.notes->predicted;
    const CommandNote& note = predicted[action.command.index];
    action.sleep = std::chrono::nanoseconds(static_cast<int64_t>(
        1e9 * std::max(0.0, note.end_seconds - note.start_seconds)));
    return absl::OkStatus();
  }

  absl::Status FillKernel(const Command& command, Action& action) {
    action.kind = Action::Kind::kKernel;
    const BoundCommand& bound = bound_[program_->actions.size()];
    action.kernel = bound.kernel;
    action.args.stream = native_stream_;
    PARTITA_ASSIGN_OR_RETURN(action.args.operands, Pointers(command.operands));
    PARTITA_ASSIGN_OR_RETURN(action.args.results, Pointers(command.results));
    if (bound.outside_scratch != nullptr) {
      action.args.workspace = bound.outside_scratch;
    } else if (command.workspace.valid()) {
      action.args.workspace = Locate(command.workspace).base;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<absl::Span<void* const>> Pointers(
      const std::vector<BufferId>& buffers) {
    const size_t begin = program_->pointers.size();
    for (BufferId id : buffers) {
      PARTITA_ASSIGN_OR_RETURN(std::byte* const base, OneBlock(id));
      program_->pointers.push_back(base);
    }
    return absl::MakeConstSpan(program_->pointers).subspan(begin);
  }

  // Null if the rank has no operand, or no result.
  absl::StatusOr<std::byte*> BlockOf(const std::vector<BufferId>& buffers,
                                     int value) const {
    if (buffers.empty()) return nullptr;
    return OneBlock(buffers[value]);
  }

  absl::StatusOr<std::byte*> OneBlock(BufferId id) const {
    const Blocks blocks = Locate(id);
    if (blocks.contiguous()) return blocks.base;
    return absl::UnimplementedError(absl::StrCat(
        "found !", context_.entry->buffers[id.index].name, " in ", blocks.count,
        " blocks; expected kernels and collectives to access one "
        "block; compile the plan again"));
  }

  absl::Status FillTransfer(Action& action, const Transfer& transfer) {
    if (transfer.to.size() != transfer.from.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found ", transfer.from.size(), " bytes for a range of ",
          transfer.to.size(), "; expected as many; compile the plan again"));
    }
    action.transfer = static_cast<int>(program_->transfers.size());
    program_->transfers.push_back(transfer);
    return absl::OkStatus();
  }

  absl::Status FillFeed(const Command& command, Action& action) {
    action.kind = Action::Kind::kFeed;
    return FillTransfer(
        action, {Locate(command.results[0]), PortBlocks(command, action)});
  }

  absl::Status FillFetch(const Command& command, Action& action) {
    action.kind = Action::Kind::kFetch;
    return FillTransfer(
        action, {PortBlocks(command, action), Locate(command.operands[0])});
  }

  Blocks PortBlocks(const Command& command, Action& action) const {
    const PortShard shard =
        ShardOfPort(*context_.plan, *context_.entry, command);
    action.port = command.port;
    action.port_offset = shard.offset;
    return shard.blocks;
  }

  Blocks Locate(BufferId buffer) const {
    return context_.memory->Locate(*context_.entry, buffer, slot_);
  }

  DeclaredBlocks Declare(const Command& command, CommandId id) const {
    DeclaredBlocks declared;
    if (computed_by_ == ComputedBy::kNothing) return declared;
    for (const Access& access : Accesses(*context_.entry, command)) {
      DeclareBuffer(access.buffer, declared);
    }
    const bool message = command.kind == Command::Kind::kSend ||
                         command.kind == Command::Kind::kRecv;
    if (message &&
        context_.entry->channels[command.channel.index].capacity > 0) {
      DeclareBuffer(SlotBuffer(command, id), declared);
    }
    return declared;
  }

  void DeclareBuffer(BufferId id, DeclaredBlocks& declared) const {
    const DeviceId device = context_.entry->buffers[id.index].device;
    ArenaGuard* guard = context_.memory->guard(device);
    if (guard != nullptr) declared.push_back({guard, Locate(id)});
  }

  const EntryContext& context_;
  const StreamId stream_;
  const int slot_;
  void* const native_stream_;
  const std::vector<BoundCommand>& bound_;
  std::unique_ptr<StreamProgram> program_;
  ComputedBy computed_by_ = ComputedBy::kOwnKernels;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamProgram>> BuildStreamProgram(
    const EntryContext& context, StreamId stream, int slot, void* native_stream,
    const std::vector<BoundCommand>& bound) {
  return ProgramBuilder(context, stream, slot, native_stream, bound).Build();
}

}  // namespace partita
