// Fills the ledger row by row.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/transfer_ledger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/viewer/covered_time.h"

namespace partita {
namespace {

using Intervals = std::vector<std::pair<double, double>>;

class LedgerWriter {
 public:
  LedgerWriter(const Plan& plan, const Entry& entry, const ViewedEntry& view)
      : plan_(plan), entry_(entry), view_(view), readers_(view.boxes.size()) {
    std::vector<Intervals> kernels(plan.devices.size());
    for (const CommandView& command : view.commands) {
      if (command.kind != "kernel" || command.end <= command.start) continue;
      kernels[view.streams[command.stream].device].emplace_back(command.start,
                                                                command.end);
    }
    for (Intervals& of_device : kernels) {
      busy_.emplace_back(std::move(of_device));
    }
    for (const EdgeView& edge : view.edges) {
      readers_[edge.from].push_back(edge.to);
    }
  }

  void Visit(CommandId id, const Command& command) {
    const int here = view_.streams[command.stream.index].device;
    switch (command.kind) {
      case Command::Kind::kCopy: {
        const int from = DeviceOf(command.operands[0]);
        const int to = DeviceOf(command.results[0]);
        if (from != to) Add(id, command, Name(from), Name(to), to);
        break;
      }
      case Command::Kind::kFeed:
        Add(id, command, kCaller, Name(here), here);
        break;
      case Command::Kind::kFetch:
        Add(id, command, Name(here), kCaller, here);
        break;
      case Command::Kind::kSend: {
        const StreamId to = entry_.channels[command.channel.index].receiver;
        const int there = view_.streams[to.index].device;
        Add(id, command, Name(here), Name(there), there);
        break;
      }
      case Command::Kind::kCollective:
        Add(id, command, Name(here),
            absl::StrCat("group ", command.group.index), here);
        break;
      default:
        break;
    }
  }

  std::vector<TransferView> Take() { return std::move(rows_); }

 private:
  int DeviceOf(BufferId id) const {
    return entry_.buffers[id.index].device.index;
  }
  const std::string& Name(int device) const {
    return plan_.devices[device].traits.name;
  }

  void Add(CommandId id, const Command& command, std::string from,
           std::string to, int waiting) {
    const CommandView& shown = view_.commands[id];
    TransferView row;
    row.command = id;
    row.from = std::move(from);
    row.to = std::move(to);
    const auto& moved =
        command.operands.empty() ? command.results : command.operands;
    for (BufferId id : moved)
      row.bytes += entry_.buffers[id.index].range.size();
    row.value = shown.box >= 0 ? view_.boxes[shown.box].name : shown.title;
    row.seconds = shown.end - shown.start;
    row.reason = Reason(command, shown.box);
    row.hidden_seconds = busy_[waiting].Within(shown.start, shown.end);
    // Times are sums of doubles: a part in a million is no gap.
    row.hidden = row.hidden_seconds >= row.seconds * (1 - 1e-6);
    rows_.push_back(std::move(row));
  }

  // Why the bytes must be there: their readers.
  std::string Reason(const Command& command, int box) const {
    if (command.kind == Command::Kind::kFetch) return "an output";
    if (box < 0) return "";
    const std::vector<int>& readers = readers_[box];
    if (readers.empty()) return "kept for the next step";
    constexpr size_t kShown = 2;
    std::string text = "read by ";
    for (size_t i = 0; i < readers.size() && i < kShown; ++i) {
      const BoxView& reader = view_.boxes[readers[i]];
      absl::StrAppend(
          &text, i == 0 ? "" : ", ", reader.op, " ", reader.name,
          reader.reason.empty() ? "" : absl::StrCat(" (", reader.reason, ")"));
    }
    if (readers.size() > kShown) {
      absl::StrAppend(&text, " and ", readers.size() - kShown, " more");
    }
    return text;
  }

  const Plan& plan_;
  const Entry& entry_;
  const ViewedEntry& view_;
  std::vector<CoveredTime> busy_;          // by device: its kernels
  std::vector<std::vector<int>> readers_;  // by box: boxes, one an edge
  std::vector<TransferView> rows_;
};

}  // namespace

std::vector<TransferView> TransferLedger(const Plan& plan, const Entry& entry,
                                         IdSpan<CommandId, Command> commands,
                                         const ViewedEntry& view) {
  LedgerWriter writer(plan, entry, view);
  for (CommandId c : commands.ids()) writer.Visit(c, commands[c]);
  return writer.Take();
}

}  // namespace partita
