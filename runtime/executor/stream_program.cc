// Resolves commands into actions with pointers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_program.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/arena_guard.h"
#include "runtime/executor/failure.h"
#include "runtime/executor/message.h"
#include "runtime/executor/port_shard.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const EntryContext& context, const ProgramPlace& place,
                 const std::vector<BoundCommand>& bound)
      : context_(context),
        place_(place),
        next_staging_(place.staging),
        bound_(bound),
        program_(std::make_unique<StreamProgram>()) {
    const DeviceId device = context.entry->streams[place.stream.index].device;
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
    return (*context_.of_stream)[place_.stream];
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
    if (action.kind == Action::Kind::kCollective) return absl::OkStatus();
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
    action.kind = Action::Kind::kCollective;
    action.communication = static_cast<int>(program_->communications.size());
    CommunicationAction& role = program_->communications.emplace_back();
    if (command.kind == Kind::kCollective) {
      PARTITA_ASSIGN_OR_RETURN(role.collective, BindRank(command, action));
      return absl::OkStatus();
    }
    const int capacity =
        context_.entry->channels[command.channel.index].capacity;
    if (capacity == 0) {
      PARTITA_ASSIGN_OR_RETURN(role.collective, BindEnd(command, action));
      return absl::OkStatus();
    }
    action.kind =
        command.kind == Kind::kSend ? Action::Kind::kSend : Action::Kind::kRecv;
    const Communication& message = context_.communications->of(action.command);
    role.rendezvous = message.rendezvous;
    role.messages = message.per_step;
    role.number = message.number;
    role.capacity = capacity;
    return absl::OkStatus();
  }

  // Of a channel without slots, which copies straight from sender to receiver.
  absl::StatusOr<std::unique_ptr<RankCollective>> BindEnd(
      const Command& command, const Action& action) const {
    const Communication& message = context_.communications->of(action.command);
    const MessagePoint point = {
        .per_step = static_cast<uint64_t>(message.per_step),
        .number = static_cast<uint64_t>(message.number)};
    if (command.kind == Command::Kind::kSend) {
      return NewSender(*message.rendezvous, point);
    }
    std::optional<Transfer> transfer;
    if (computed_by_ != ComputedBy::kNothing) {
      const Command& send = (*context_.commands)[message.commands[0]];
      transfer = {Locate(command.results[0]), Locate(send.operands[0])};
      PARTITA_RETURN_IF_ERROR(CheckSizes(*transfer));
    }
    return NewReceiver(*message.rendezvous, point, transfer);
  }

  absl::StatusOr<std::unique_ptr<RankCollective>> BindRank(
      const Command& command, const Action& action) {
    const Communication& collective =
        context_.communications->of(action.command);
    std::vector<RankMemory> ranks;
    if (computed_by_ != ComputedBy::kNothing) {
      for (CommandId c : collective.commands) {
        PARTITA_ASSIGN_OR_RETURN(ranks.emplace_back(),
                                 MemoryOf((*context_.commands)[c]));
      }
    }
    return context_.communicators->of(command.group)
        .Bind(context_.entry->graph->view(command.instance.node),
              collective.number, command.instance.rank,
              ParticipantOf(GroupOf(command), command), ranks);
  }

  const Group& GroupOf(const Command& command) const {
    return context_.entry->groups[command.group.index];
  }

  absl::StatusOr<RankMemory> MemoryOf(const Command& rank) const {
    RankMemory memory;
    memory.participant = ParticipantOf(GroupOf(rank), rank);
    for (const BufferId id : rank.operands) {
      PARTITA_ASSIGN_OR_RETURN(memory.operands.emplace_back(), OneBlock(id));
    }
    for (const BufferId id : rank.results) {
      PARTITA_ASSIGN_OR_RETURN(memory.results.emplace_back(), OneBlock(id));
    }
    return memory;
  }

  // A message with a slot is copied there, and from there.
  absl::Status FillSend(const Command& command, Action& action) {
    return FillTransfer(action,
                        {SlotOf(command, action), Locate(command.operands[0])});
  }

  absl::Status FillRecv(const Command& command, Action& action) {
    return FillTransfer(action,
                        {Locate(command.results[0]), SlotOf(command, action)});
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
    action.args.stream = place_.native_stream;
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
      PARTITA_ASSIGN_OR_RETURN(const Blocks block, OneBlock(id));
      program_->pointers.push_back(block.base);
    }
    return absl::MakeConstSpan(program_->pointers).subspan(begin);
  }

  absl::StatusOr<Blocks> OneBlock(BufferId id) const {
    const Blocks blocks = Locate(id);
    if (blocks.contiguous()) return Blocks{blocks.base, blocks.size()};
    return absl::UnimplementedError(absl::StrCat(
        "found !", context_.entry->buffers[id.index].name, " in ", blocks.count,
        " blocks; expected kernels and collectives to access one "
        "block; compile the plan again"));
  }

  static absl::Status CheckSizes(const Transfer& transfer) {
    if (transfer.to.size() == transfer.from.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", transfer.from.size(), " bytes for a range of ",
        transfer.to.size(), "; expected as many; compile the plan again"));
  }

  absl::Status FillTransfer(Action& action, const Transfer& transfer) {
    PARTITA_RETURN_IF_ERROR(CheckSizes(transfer));
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
    if (next_staging_ != nullptr) {
      program_->staged_fetches.push_back(
          static_cast<int>(program_->actions.size()));
    }
    return FillTransfer(
        action, {PortBlocks(command, action), Locate(command.operands[0])});
  }

  Blocks PortBlocks(const Command& command, Action& action) {
    const PortShard shard =
        ShardOfPort(*context_.plan, *context_.entry, command);
    action.port = command.port;
    action.port_offset = shard.offset;
    if (next_staging_ != nullptr) {
      action.staging = next_staging_;
      next_staging_ += StagedBytes(shard.blocks.size());
    }
    return shard.blocks;
  }

  Blocks Locate(BufferId buffer) const {
    return context_.memory->Locate(*context_.entry, buffer, place_.slot);
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
  const ProgramPlace& place_;
  std::byte* next_staging_;  // null: the stream needs no staging
  const std::vector<BoundCommand>& bound_;
  std::unique_ptr<StreamProgram> program_;
  ComputedBy computed_by_ = ComputedBy::kOwnKernels;
};

}  // namespace

Transfer DeviceTransferOf(const StreamProgram& program, const Action& action) {
  Transfer transfer = program.transfers[action.transfer];
  if (action.kind == Action::Kind::kFeed) {
    transfer.from = {action.staging, transfer.to.size()};
  } else if (action.kind == Action::Kind::kFetch) {
    transfer.to = {action.staging, transfer.from.size()};
  }
  return transfer;
}

int64_t StagingBytes(const EntryContext& context, StreamId stream) {
  int64_t bytes = 0;
  for (CommandId id : (*context.of_stream)[stream]) {
    const Command& command = (*context.commands)[id];
    if (command.kind != Command::Kind::kFeed &&
        command.kind != Command::Kind::kFetch) {
      continue;
    }
    bytes += StagedBytes(
        ShardOfPort(*context.plan, *context.entry, command).blocks.size());
  }
  return bytes;
}

absl::StatusOr<std::unique_ptr<StreamProgram>> BuildStreamProgram(
    const EntryContext& context, const ProgramPlace& place,
    const std::vector<BoundCommand>& bound) {
  return ProgramBuilder(context, place, bound).Build();
}

}  // namespace partita
