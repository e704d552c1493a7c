// A plan as the viewer shows it: plain data, names instead of ids.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_
#define PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// The most that a page shows over all entries: browsers do not open larger
// pages. Points are those of one device's memory.
inline constexpr size_t kMaxShownCommands = 300'000;
inline constexpr size_t kMaxShownPoints = 10'000;
inline constexpr size_t kMaxShownBlocks = 300'000;
inline constexpr size_t kMaxShownTransfers = 20'000;

// The machine of a plan's predictions, and the prices of its nodes there.
struct ViewedMachine {
  Machine machine;
  // By entry, and by node id of its graph.
  std::vector<std::vector<double>> node_seconds;
  // The plan was made for it, so that its notes are about it.
  bool is_own = false;
};

struct OperandView {
  std::string name;  // "%x"
  std::string type;
  int box = -1;  // index of its maker in ViewedEntry::boxes; -1: a constant
};

// A node of the placed graph, or an input or output of the entry. Constants are
// not boxes: they appear as operands of their readers.
struct BoxView {
  enum class Kind : uint8_t { kNode, kInput, kOutput };
  Kind kind = Kind::kNode;
  // A copy, reorder or bucket, which the compiler inserted.
  bool inserted = false;
  NodeId node;       // of the entry's graph; invalid: an input or output
  std::string name;  // "%y"; for an output, its port
  // "conv"; for a fused node, its body's ops: "conv+relu"; for a copy or bucket
  // that is a collective, its name: "all_reduce".
  std::string op;
  std::string scope;  // "encoder/layer3"
  std::string location;
  std::vector<int> devices;  // indices into PlanView::devices
  std::string reason;
  std::string kernel;
  std::string arithmetic;
  int64_t workspace = 0;  // bytes
  double seconds = 0;     // predicted, for one instance
  std::vector<OperandView> operands;
  std::vector<OperandView> results;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // bodies of a fused node, as IR
  std::vector<CommandId> commands;
};

// A value that one box makes and another reads.
struct EdgeView {
  int from = 0;  // boxes
  int to = 0;
  std::string value;
  int64_t bytes = 0;
  bool cut = false;  // no device has both ends
};

struct StreamView {
  std::string name;
  int device = 0;
};

struct CommandView {
  int stream = 0;
  std::string kind;
  std::string title;  // as in `partita simulate --trace`
  int box = -1;
  double start = 0;  // seconds; ViewedEntry::timed says which
  double end = 0;
  int event = -1;  // of a record or wait
  // As SimulatedCommand::cause; invalid without a machine.
  CommandId cause;
  int link = -1;        // of PlanView::links, which it occupies
  bool forward = true;  // along the link
};

// Bytes of an arena while they hold something, over the time of a step.
struct BlockView {
  enum class Kind : uint8_t {
    kConstant,    // persistent
    kVariable,    // persistent
    kInput,       // fed
    kTransfer,    // arrived from another device, or a slot of a channel
    kActivation,  // what a kernel computes
    kWorkspace,
  };
  Kind kind = Kind::kActivation;
  std::string name;
  int box = -1;       // its maker
  int64_t begin = 0;  // bytes of the persistent or of the step-local part
  int64_t end = 0;
  bool persistent = false;  // all the time
  double from = 0;          // seconds
  double to = 0;
};

struct MemoryView {
  int device = 0;
  int64_t limit = 0;       // bytes that arenas may take
  int64_t arena = 0;       // bytes that the plan reserves, all copies counted
  int64_t persistent = 0;  // of arena
  int64_t peak = 0;        // of the points
  // The highest of several that are close together.
  std::vector<std::pair<double, int64_t>> points;
  std::vector<BlockView> blocks;  // the first ones, by their starts
  int64_t blocks_left_out = 0;
};

// One row of the ledger: bytes that leave a device or arrive.
struct TransferView {
  CommandId command;
  std::string from;  // a device, or "caller"
  std::string to;
  std::string value;
  int64_t bytes = 0;
  double seconds = 0;
  std::string reason;  // who needs it there
  // Seconds of the transfer during which the device at the other end computes:
  // the receiver or, for a fetch, the sender.
  double hidden_seconds = 0;
  bool hidden = false;  // all of it; transfers that take no time are hidden
};

// Totals of the transfers between devices.
struct TransferTotals {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t hidden = 0;  // completely
};

struct DeviceView {
  std::string name;
  std::string kind;
  int64_t memory = 0;  // bytes that arenas may take
};

// A device of the machine, and a link between two of them.
struct MachineDeviceView {
  std::string name;
  std::string kind;
  int device = -1;  // of PlanView::devices; -1: the plan does not use it
};
struct LinkView {
  int from = 0;  // of PlanView::machine_devices
  int to = 0;
  double bandwidth = 0;  // bytes per second, one direction
  bool duplex = true;    // else both directions share it
};

// What one direction of a link carries in a step.
struct LinkLoad {
  int64_t transfers = 0;
  int64_t bytes = 0;
  double seconds = 0;  // in which at least one transfer occupies it
};

// A command of the critical path, and the part of the path in which it is the
// last to end.
struct PathStep {
  CommandId command;
  double seconds = 0;
};

// What a reader looks at first.
struct FindingView {
  std::string text;
  double seconds = 0;  // of the step that it is about: the most come first
  // What it speaks of; -1 and invalid: nothing of that kind.
  int device = -1;
  int box = -1;
  int link = -1;  // of PlanView::links
  CommandId command;
  double moment = -1;  // at which the memory of `device` is shown
};

// A box elsewhere, and what the plan would come to. See NodeOption.
struct OptionView {
  std::string placement;  // "cpu:0", "cpu:0,cpu:1 (split 0)"
  bool is_present = false;
  bool has_kernel = false;
  std::string refusal;
  std::optional<double> seconds;  // of the node alone
  // Of the whole plan, if it is known.
  std::optional<double> step_seconds;
  std::string transfers;  // "1 copy, 32.0 KiB"
  std::string memory;     // "cpu:0 914.0 KiB, gpu:0 1.2 KiB"
  std::string path;       // "kernels 61.9 us, transfers 0.0 us, ..."
};
struct ExplanationView {
  int box = 0;
  std::string why;
  std::vector<std::string> constraints;
  std::vector<OptionView> options;
  int options_left_out = 0;
};

struct ViewedEntry {
  std::string name;
  bool timed = false;  // false: no prediction; each command takes one "second"
  bool simulated = false;  // just now, with causes, links and a path
  double step_seconds = 0;
  double bound_seconds = 0;
  std::string bound_by;  // what limits every plan
  double end = 0;        // of the last command
  std::vector<BoxView> boxes;
  std::vector<EdgeView> edges;
  std::vector<StreamView> streams;
  IdVector<CommandId, CommandView> commands;  // the first ones
  int64_t commands_left_out = 0;              // those not shown
  std::vector<MemoryView> memory;
  // Of the shown commands: the first ones, and all together.
  std::vector<TransferView> transfers;
  int64_t transfers_left_out = 0;
  TransferTotals transfer_totals;
  // By link of PlanView::links; [0] is along it, [1] against it.
  std::vector<std::array<LinkLoad, 2>> link_loads;
  std::vector<PathStep> path;  // shown commands that take time, in order
  std::vector<FindingView> findings;
  std::vector<ExplanationView> explanations;
};

struct PlanView {
  std::string name;
  std::string summary;
  std::string machine;  // its name; empty: not known
  std::vector<DeviceView> devices;
  // Devices of one kind and memory that do the same in each entry, ascending.
  // Every device is in one list.
  std::vector<std::vector<int>> equal_devices;
  std::vector<MachineDeviceView> machine_devices;  // empty: not known
  std::vector<LinkView> links;
  std::vector<ViewedEntry> entries;
  Certificate certificate;  // of a proof made just now
  bool carried = false;     // the plan has its own
};

// Proves the plan first, then reads it; a plan that cannot be proved is refused
// with the checker's findings. With a machine, simulates the plan on it;
// otherwise times are those of the plan's notes. InvalidArgument for notes that
// do not match. Errors of a machine as Simulate.
absl::StatusOr<PlanView> ReadPlanView(const Plan& plan,
                                      const ViewedMachine* machine = nullptr);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_
