// What one stream does in a step, with every pointer worked out.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/collective.h"
#include "runtime/executor/meetings.h"
#include "runtime/executor/session_memory.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

// One command, ready to go. Small, as the hot path reads a list of them.
struct Action {
  enum class Kind : uint8_t {
    kKernel,
    kCopy,
    kFeed,
    kFetch,
    kRecord,
    kWait,
    kCollective,
    kSend,
    kRecv,
    kSleep
  };
  Kind kind = Kind::kKernel;
  int command = 0;                // number in launch order
  BoundKernel* kernel = nullptr;  // kKernel
  LaunchArgs args;                // kKernel
  DeviceEvent* event = nullptr;   // kRecord, kWait
  int port = 0;                   // kFeed, kFetch
  int64_t port_offset = 0;        // kFeed, kFetch: where its part begins
  int transfer = -1;              // index of the blocks that it copies
  int exchange = 0;               // kCollective, kSend, kRecv: index
  std::chrono::nanoseconds sleep{0};
};

// A command that meets others: its place there, and what it does.
struct Exchange {
  Rendezvous* place = nullptr;
  int seat = 0;  // whose calls of `place` it makes; of a channel: 0 sends
  uint64_t points_per_step = 0;
  uint64_t first_point = 0;  // of its points in a step, from 1
  int number = 0;            // kSend, kRecv: of the message in its channel
  int capacity = 0;          // kSend: of the channel
  std::vector<CollectivePart> parts;  // kCollective: by value
};

using DeclaredBlocks = std::vector<std::pair<ArenaGuard*, Blocks>>;

struct StreamProgram {
  std::vector<Action> actions;
  std::vector<Transfer> transfers;
  std::vector<Exchange> exchanges;
  std::vector<void*> pointers;  // that the spans of LaunchArgs lie in
  // By action; empty where no arena is guarded.
  std::vector<DeclaredBlocks> declared;
};

// What the programs of one entry are made from.
struct EntryContext {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  const std::vector<Command>* commands = nullptr;  // expanded
  // By stream the numbers of its commands, in launch order.
  const std::vector<std::vector<int>>* of_stream = nullptr;
  const EntryNotes* notes = nullptr;  // predicted times, if any
  const Devices* devices = nullptr;
  const SessionMemory* memory = nullptr;
  const std::vector<std::unique_ptr<DeviceEvent>>* events = nullptr;
  Meetings* meetings = nullptr;
};

// What one command launches, if it is a kernel's.
struct BoundCommand {
  BoundKernel* kernel = nullptr;
  void* outside_scratch = nullptr;  // instead of the plan's workspace, if set
  std::optional<ReplacedKernel> replaced;  // of one command
};

// The program of `stream` for steps that use copy `slot` of the step-local
// bytes; `bound` has one for each of the stream's commands. Unimplemented, with
// the command, for what this executor cannot do.
absl::StatusOr<std::unique_ptr<StreamProgram>> BuildStreamProgram(
    const EntryContext& context, StreamId stream, int slot, void* native_stream,
    const std::vector<BoundCommand>& bound);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_
