// Keeps and describes the first error.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/failure.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/executor/executor_options.h"
#include "runtime/plan/command_places.h"
#include "runtime/plan/command_titles.h"

namespace partita {
namespace {

// Removes the node's name from a kernel's message: the prefix has it already.
void ConsumeNode(const std::string& node, absl::string_view& message) {
  const absl::string_view op =
      absl::string_view(node).substr(0, node.find('%'));
  const size_t end = message.find(": ");
  if (op.empty() || end == message.npos || !absl::StartsWith(message, op)) {
    return;
  }
  message.remove_prefix(end + 2);
}

// "gpu:0/compute", "gpu:0".
std::string StreamText(const FailedCommand& where) {
  return absl::StrCat(where.device, where.stream.empty() ? "" : "/",
                      where.stream);
}

// "command 7 kernel softmax %p".
std::string CommandText(const FailedCommand& where) {
  return absl::StrCat(where.place, " ", where.kind,
                      where.node.empty() ? "" : " ", where.node);
}

std::string TextOf(const SuspectedCommands& suspects) {
  std::string text = absl::StrCat(StreamText(suspects.first), " ",
                                  CommandText(suspects.first));
  if (suspects.last.command != suspects.first.command) {
    absl::StrAppend(&text, " to ", CommandText(suspects.last));
  }
  return text;
}

std::string BlockingHint() {
  return absl::StrCat("run again with ", kLaunchBlockingVariable,
                      "=1, which names the command");
}

absl::Status Extended(const absl::Status& status, absl::string_view text) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; ", text));
}

}  // namespace

FailedCommand DescribeCommand(const Plan& plan, const Entry& entry,
                              const Command& command, CommandId id) {
  const Stream& stream = entry.streams[command.stream.index];
  FailedCommand where;
  where.entry = entry.name;
  where.device = plan.devices[stream.device.index].traits.name;
  where.stream = stream.name;
  where.command = id.index;
  where.place = CommandPlaces(entry).Text(id);
  const absl::string_view kind = CommandKindName(command.kind);
  where.kind = std::string(kind.data(), kind.size());
  where.node = CommandTitles(plan, entry).NodeOf(command);
  return where;
}

absl::Status AtCommand(const FailedCommand& where, const absl::Status& status) {
  absl::string_view message = status.message();
  std::string place = absl::StrCat("entry @", where.entry, ": ");
  if (!where.device.empty()) {
    absl::StrAppend(&place, StreamText(where), ": ");
  }
  if (where.command >= 0) {
    absl::StrAppend(&place, CommandText(where), ": ");
    ConsumeNode(where.node, message);
  }
  return absl::Status(status.code(), absl::StrCat(place, message));
}

absl::Status WithSuspects(const absl::Status& status, uint64_t step,
                          const std::vector<SuspectedCommands>& suspects) {
  if (suspects.empty()) return Extended(status, BlockingHint());
  return Extended(
      status,
      absl::StrCat("made by one of these commands of step ", step, ": ",
                   absl::StrJoin(suspects, ", ",
                                 [](std::string* out,
                                    const SuspectedCommands& of_stream) {
                                   absl::StrAppend(out, TextOf(of_stream));
                                 }),
                   "; ", BlockingHint()));
}

absl::Status WithEarlierSuspects(const absl::Status& status) {
  return Extended(status, absl::StrCat("made by this call or by an earlier "
                                       "command; ",
                                       BlockingHint()));
}

bool FailureLatch::Set(const absl::Status& status, FailedCommand where) {
  return SetUnnamed(status, std::move(where), CommandId());
}

bool FailureLatch::SetUnnamed(const absl::Status& status, FailedCommand where,
                              CommandId end) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return false;
  status_ = AtCommand(where, status);
  where_ = std::move(where);
  unnamed_end_ = end;
  stopped_.store(true, std::memory_order_seq_cst);
  return true;
}

CommandId FailureLatch::unnamed_end() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return unnamed_end_;
}

void FailureLatch::Name(const absl::Status& status, FailedCommand where) {
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = AtCommand(where, status);
  where_ = std::move(where);
  unnamed_end_ = CommandId();
}

absl::Status FailureLatch::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

FailedCommand FailureLatch::where() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return where_;
}

void FailureLatch::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = absl::OkStatus();
  unnamed_end_ = CommandId();
  stopped_.store(false, std::memory_order_seq_cst);
}

}  // namespace partita
