// Keeping and describing the first error.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/failure.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/op_view.h"

namespace partita {

FailedCommand DescribeCommand(const Plan& plan, const Entry& entry,
                              const Command& command, int number) {
  const Stream& stream = entry.streams[command.stream.index];
  FailedCommand where;
  where.entry = entry.name;
  where.device = plan.devices[stream.device.index].traits.name;
  where.stream = stream.name;
  where.command = number;
  const absl::string_view kind = CommandKindName(command.kind);
  where.kind = std::string(kind.data(), kind.size());
  const NodeId node = command.instance.node;
  if (node.valid() && entry.graph != nullptr && entry.graph->alive(node)) {
    where.node = entry.graph->view(node).ToString();
  }
  return where;
}

absl::Status AtCommand(const FailedCommand& where, const absl::Status& status) {
  absl::string_view message = status.message();
  std::string place = absl::StrCat("entry @", where.entry, ": ");
  if (where.command >= 0) {
    absl::StrAppend(&place, where.device, "/", where.stream, ": command ",
                    where.command, " ", where.kind,
                    where.node.empty() ? "" : " ", where.node, ": ");
    // A kernel names its node too: once is enough.
    absl::ConsumePrefix(&message, absl::StrCat(where.node, ": "));
  }
  return absl::Status(status.code(), absl::StrCat(place, message));
}

bool FailureLatch::Set(const absl::Status& status, FailedCommand where) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return false;
  status_ = AtCommand(where, status);
  where_ = std::move(where);
  stopped_.store(true, std::memory_order_seq_cst);
  return true;
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
  stopped_.store(false, std::memory_order_seq_cst);
}

}  // namespace partita
