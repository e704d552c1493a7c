// Turns commands into actions with pointers.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_program.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/arena_guard.h"
#include "runtime/executor/failure.h"
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
    timed_ = (*context.devices)[device.index]->is_timed();
  }

  absl::StatusOr<std::unique_ptr<StreamProgram>> Build() {
    ReservePointers();
    const std::vector<Command>& commands = *context_.commands;
    for (size_t i = 0; i < commands.size(); ++i) {
      if (commands[i].stream != stream_) continue;
      const int number = static_cast<int>(i);
      if (absl::Status status = Add(commands[i], number); !status.ok()) {
        return AtCommand(DescribeCommand(*context_.plan, *context_.entry,
                                         commands[i], number),
                         status);
      }
    }
    return std::move(program_);
  }

 private:
  // Spans of earlier actions must stay good while pointers are added.
  void ReservePointers() {
    size_t pointers = 0;
    for (const Command& command : *context_.commands) {
      if (command.stream != stream_) continue;
      pointers += command.operands.size() + command.results.size();
    }
    program_->pointers.reserve(pointers);
  }

  absl::Status Add(const Command& command, int number) {
    Action action;
    action.command = number;
    PARTITA_RETURN_IF_ERROR(Fill(command, action));
    program_->actions.push_back(action);
    if (ArenaGuardsWork()) program_->declared.push_back(Declare(command));
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
    if (timed_) return FillSleep(action);
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
      default:
        return absl::UnimplementedError(
            "found a collective or channel; expected kernel, copy, record, "
            "wait, feed or fetch; compile for a plan without sharding");
    }
  }

  absl::Status FillSleep(Action& action) {
    action.kind = Action::Kind::kSleep;
    const auto& predicted = context_.notes->predicted;
    const CommandNote& note = predicted[action.command];
    action.sleep = std::chrono::nanoseconds(static_cast<int64_t>(
        1e9 * std::max(0.0, note.end_seconds - note.start_seconds)));
    return absl::OkStatus();
  }

  absl::Status FillKernel(const Command& command, Action& action) {
    action.kind = Action::Kind::kKernel;
    const BoundCommand& bound = bound_[action.command];
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
      const Blocks blocks = Locate(id);
      if (!blocks.contiguous()) {
        return absl::UnimplementedError(absl::StrCat(
            "found !", context_.entry->buffers[id.index].name, " in ",
            blocks.count, " blocks; expected kernels to touch one block"));
      }
      program_->pointers.push_back(blocks.base);
    }
    return absl::MakeConstSpan(program_->pointers).subspan(begin);
  }

  absl::Status FillTransfer(Action& action, const Transfer& transfer) {
    if (transfer.to.size() != transfer.from.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", transfer.from.size(), " bytes for a range of ",
                       transfer.to.size()));
    }
    action.transfer = static_cast<int>(program_->transfers.size());
    program_->transfers.push_back(transfer);
    return absl::OkStatus();
  }

  absl::Status FillFeed(const Command& command, Action& action) {
    action.kind = Action::Kind::kFeed;
    action.port = command.port;
    const int64_t bytes = context_.entry->inputs[command.port].type.num_bytes();
    return FillTransfer(action, {Locate(command.results[0]), {nullptr, bytes}});
  }

  absl::Status FillFetch(const Command& command, Action& action) {
    action.kind = Action::Kind::kFetch;
    action.port = command.port;
    const int64_t bytes =
        context_.entry->outputs[command.port].type.num_bytes();
    return FillTransfer(action,
                        {{nullptr, bytes}, Locate(command.operands[0])});
  }

  Blocks Locate(BufferId buffer) const {
    return context_.memory->Locate(*context_.entry, buffer, slot_);
  }

  DeclaredBlocks Declare(const Command& command) const {
    DeclaredBlocks declared;
    if (timed_) return declared;
    for (const Access& access : Accesses(*context_.entry, command)) {
      ArenaGuard* guard = context_.memory->guard(access.device);
      if (guard == nullptr) continue;
      declared.push_back({guard, Locate(access.buffer)});
    }
    return declared;
  }

  const EntryContext& context_;
  const StreamId stream_;
  const int slot_;
  void* const native_stream_;
  const std::vector<BoundCommand>& bound_;
  std::unique_ptr<StreamProgram> program_;
  bool timed_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamProgram>> BuildStreamProgram(
    const EntryContext& context, StreamId stream, int slot, void* native_stream,
    const std::vector<BoundCommand>& bound) {
  return ProgramBuilder(context, stream, slot, native_stream, bound).Build();
}

}  // namespace partita
