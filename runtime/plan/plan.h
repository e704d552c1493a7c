// The plan: everything that an executor does. The executor decides nothing.
// Only data. docs/reference/plan_format.md shows the text form.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_H_
#define PARTITA_RUNTIME_PLAN_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/device_traits.h"
#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/ids.h"
#include "graph/kernel_catalog.h"
#include "graph/literal_pool.h"

namespace partita {

using DeviceId = Id<struct PlanDeviceTag>;  // index into Plan::devices
using BufferId = Id<struct BufferTag>;      // index into Entry::buffers
using StreamId = Id<struct StreamTag>;      // index into Entry::streams
using EventId = Id<struct EventTag>;        // 0 .. Entry::num_events - 1
using GroupId = Id<struct GroupTag>;        // index into Entry::groups
using ChannelId = Id<struct ChannelTag>;    // index into Entry::channels
using ProgramId = Id<struct ProgramTag>;    // index into Entry::programs
using CommandId = Id<struct CommandTag>;    // index into Expand's list
// What commands take part in together. Each user lists them in its own order.
using CollectiveId = Id<struct CollectiveTag>;
using MessageId = Id<struct MessageTag>;

// Bytes of one arena: `count` blocks of `block` bytes, `stride` bytes apart.
// One block is an interval. Empty if block or count is 0.
struct Range {
  int64_t size() const { return block * count; }
  bool empty() const { return block == 0 || count == 0; }
  // One past the last byte. Needs: a range that passed the checker's form.
  int64_t end() const { return offset + (count - 1) * stride + block; }
  // The canonical form of these bytes: an interval has one block and no stride;
  // an empty range is Range().
  Range Canonical() const;
  // True if both are the same bytes, however they are written.
  friend bool operator==(const Range& a, const Range& b);

  int64_t offset = 0;
  int64_t block = 0;
  int64_t count = 1;
  int64_t stride = 0;
};

// One device of the machine that the plan is made for.
struct PlanDevice {
  DeviceTraits traits;
  int64_t memory = 0;      // bytes that arenas may use, without the reserve
  int64_t alignment = 64;  // of the arena's base
  // The arena holds the persistent bytes first, then `depth` copies of the
  // step-local part: step t uses copy t mod depth. A buffer's range is relative
  // to its part.
  int64_t persistent_bytes = 0;
  int64_t step_bytes = 0;  // of one copy, the maximum over all entries
};

// Bytes with a name. Buffers may share bytes: views, in-place results, and
// values with disjoint live ranges.
struct Buffer {
  std::string name;  // without the sigil
  DeviceId device;
  Range range;
  bool persistent = false;  // the range is relative to the persistent part
};

// One instance of a node of the bound graph.
struct Instance {
  friend bool operator==(const Instance&, const Instance&) = default;
  NodeId node;
  int rank = 0;  // index into the node's device set
  MicroBatchId micro_batch = kFirstMicroBatch;
};

struct Command {
  enum class Kind : uint8_t {
    kKernel,      // instance; operands, results, workspace
    kCopy,        // operands[0] to results[0], equal sizes; instance of `copy`
    kRecord,      // event
    kWait,        // event
    kFeed,        // bytes of graph input `port` to results[0]
    kFetch,       // operands[0] to graph output `port`
    kCollective,  // the command of one rank; group
    kSend,        // operands[0]; channel
    kRecv,        // results[0]; channel
  };
  friend bool operator==(const Command&, const Command&) = default;

  Kind kind = Kind::kKernel;
  StreamId stream;
  Instance instance;               // kernel, copy, collective, send, recv
  std::vector<BufferId> operands;  // read
  std::vector<BufferId> results;   // written, defined afterwards
  BufferId workspace;              // written, undefined afterwards; or none
  EventId event;
  int port = -1;
  GroupId group;
  ChannelId channel;
};

// The node in the bound graph determines the collective. Every rank of the
// group issues the same collectives in the same order.
struct Group {
  std::vector<StreamId> ranks;
};

struct Channel {
  StreamId sender;
  StreamId receiver;
  int capacity = 0;             // messages that may be in flight
  std::vector<BufferId> slots;  // `capacity` of them; empty for 0
};

struct Stream {
  std::string name;  // "compute", "copy:gpu:1"
  DeviceId device;
};

// Commands that a schedule invokes. In a program, a buffer or event id of
// kFirstSlot + k is slot k of the invocation; smaller ids are ids of the entry.
inline constexpr int32_t kFirstSlot = 1 << 28;
struct Program {
  std::string name;
  int num_buffer_slots = 0;
  int num_event_slots = 0;
  std::vector<Command> commands;  // in launch order, over all its streams
};

struct Invocation {
  ProgramId program{0};
  // Its index is added to those of the commands' instances.
  MicroBatchId micro_batch = kFirstMicroBatch;
  std::vector<BufferId> buffers;  // by slot
  std::vector<EventId> events;    // by slot
};

// A persistent range and its content when the session starts: a constant, or a
// variable's initial value. The value is the result of the `constant` or
// `variable` node on one rank of its device set.
struct PersistentValue {
  BufferId buffer;
  NodeId node;
  int rank = 0;
  LiteralId initial;  // of Plan::module's literals
};

// A graph input or output as the caller sees it: row-major.
struct Port {
  std::string name;
  TensorType type;
};

// One function of the module, for one binding of its dimensions.
struct Entry {
  std::string name;
  const Graph* graph = nullptr;  // placed; owned by Plan::module
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Buffer> buffers;
  std::vector<Stream> streams;
  std::vector<Group> groups;
  std::vector<Channel> channels;
  std::vector<PersistentValue> persistent;
  int num_events = 0;
  int depth = 1;  // steps that may overlap
  std::vector<Program> programs;
  std::vector<Invocation> schedule;
};

// Notes for people; executors ignore them.
struct NodeNote {
  NodeId node;
  std::string reason;  // why it runs where it does
  double seconds = 0;  // predicted
};
struct CommandNote {  // by number of the expanded command
  double start_seconds = 0;
  double end_seconds = 0;
};
struct EntryNotes {
  std::vector<NodeNote> nodes;
  std::vector<CommandNote> predicted;
  double step_seconds = 0;
  double bound_seconds = 0;  // lower bound of the time of any plan
  std::string bound_by;      // what limits every plan: "load of gpu:0"
};
struct PlanNotes {
  std::string machine_json;
  std::vector<EntryNotes> entries;  // one for each of Plan::entries, or none
  std::string summary;
};

// What the checker proved, and for which plan. Loading never trusts it.
struct Certificate {
  std::string checker;    // name and version
  std::string plan_hash;  // of the plan's text without notes
  std::vector<std::string> proved;
  std::vector<std::string> assumed;
};

struct Plan {
  std::string name;
  std::vector<PlanDevice> devices;
  Module module;  // placed functions, variables, constants
  std::vector<Entry> entries;
  std::vector<CodeObject> code_objects;
  std::optional<PlanNotes> notes;
  std::optional<Certificate> certificate;
};

// The commands of an entry as the schedule invokes them, with slots replaced.
// Checker, simulator and executor process this list in launch order. The ids
// are the command numbers that people see.
// InvalidArgument if an invocation or slot does not exist.
using CommandList = IdVector<CommandId, Command>;
absl::StatusOr<CommandList> Expand(const Entry& entry);

absl::string_view CommandKindName(Command::Kind kind);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_H_
