// The commands of one stream in a step, with all pointers resolved.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "kernels/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/collective.h"
#include "runtime/executor/communications.h"
#include "runtime/executor/communicator.h"
#include "runtime/executor/communicators.h"
#include "runtime/executor/session_memory.h"
#include "runtime/executor/session_report.h"
#include "runtime/executor/stream_devices.h"
#include "runtime/plan/plan.h"

namespace partita {

// One resolved command. Small, because the hot path reads a list of them.
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
  CommandId command;
  Kernel* kernel = nullptr;      // kKernel
  LaunchArgs args;               // kKernel
  DeviceEvent* event = nullptr;  // kRecord, kWait
  int port = 0;                  // kFeed, kFetch
  int64_t port_offset = 0;       // kFeed, kFetch: first byte to copy
  int transfer = -1;             // index of the blocks to copy
  // kFeed, kFetch: host memory of the device, through which the bytes pass;
  // null if the stream copies from and to the caller's buffers.
  std::byte* staging = nullptr;
  int communication = 0;  // kCollective, kSend, kRecv: index
  // kSleep, and kCollective, kSend on a device that computes nothing.
  std::chrono::nanoseconds sleep{0};
};

// What one command does in a collective or a message. A message of a channel
// without slots is a collective of its two ends.
struct CommunicationAction {
  std::unique_ptr<RankCollective> collective;  // kCollective
  // kSend, kRecv:
  Rendezvous* rendezvous = nullptr;
  uint64_t messages = 0;  // of the channel in a step
  int number = 0;         // of this message
  int capacity = 0;       // of the channel
};

using DeclaredBlocks = std::vector<std::pair<ArenaGuard*, Blocks>>;

struct StreamProgram {
  std::vector<Action> actions;
  std::vector<Transfer> transfers;
  std::vector<CommunicationAction> communications;
  std::vector<void*> pointers;      // storage of the spans in LaunchArgs
  std::vector<int> staged_fetches;  // indices of actions
  // By action; empty if no arena is guarded.
  std::vector<DeclaredBlocks> declared;
};

// What the device's stream copies for a copy, or for a feed or fetch that
// passes through staging memory.
Transfer DeviceTransferOf(const StreamProgram& program, const Action& action);

// The common input of all stream programs of an entry.
struct EntryContext {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  const CommandList* commands = nullptr;
  // In launch order.
  const IdVector<StreamId, std::vector<CommandId>>* of_stream = nullptr;
  const StreamDevices* stream_devices = nullptr;
  const EntryNotes* notes = nullptr;  // predicted times, if any
  const Devices* devices = nullptr;
  const SessionMemory* memory = nullptr;
  const std::vector<std::unique_ptr<DeviceEvent>>* events = nullptr;
  Communications* communications = nullptr;
  Communicators* communicators = nullptr;
};

// The kernel of one command, if it launches one.
struct BoundCommand {
  Kernel* kernel = nullptr;
  void* outside_scratch = nullptr;  // if set, replaces the plan's workspace
  std::optional<ReplacedKernel> replaced;  // counts one command
};

// Bytes of staging memory for the feeds and fetches of `stream` in a step.
int64_t StagingBytes(const EntryContext& context, StreamId stream);

// Where the program of one stream and one slot of the step-local bytes works.
struct ProgramPlace {
  StreamId stream;
  int slot = 0;
  void* native_stream = nullptr;
  std::byte* staging = nullptr;  // StagingBytes, or null
};

// Builds the program of a stream. `bound` has one element for each command of
// the stream.
// Unimplemented, with the command, if the executor does not support it.
absl::StatusOr<std::unique_ptr<StreamProgram>> BuildStreamProgram(
    const EntryContext& context, const ProgramPlace& place,
    const std::vector<BoundCommand>& bound);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_PROGRAM_H_
