// A plan as the viewer shows it: plain data, names instead of ids.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_
#define PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "runtime/plan/plan.h"

namespace partita {

// The most that a page shows of a plan's commands, over all entries, and of
// points of one device's memory: browsers do not open larger pages.
inline constexpr size_t kMaxShownCommands = 100'000;
inline constexpr size_t kMaxShownPoints = 10'000;

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
  std::string name;   // "%y"; for an output, its port
  std::string op;     // "conv"; for a fused node, its body's ops: "conv+relu"
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
};

struct MemoryView {
  int device = 0;
  int64_t limit = 0;       // bytes that arenas may take
  int64_t arena = 0;       // bytes that the plan reserves, all copies counted
  int64_t persistent = 0;  // of arena
  int64_t peak = 0;        // of the points
  // The highest of several that are close together.
  std::vector<std::pair<double, int64_t>> points;
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

struct DeviceView {
  std::string name;
  std::string kind;
  int64_t memory = 0;  // bytes that arenas may take
};

struct ViewedEntry {
  std::string name;
  int depth = 1;
  bool timed = false;  // false: no prediction; each command takes one "second"
  double step_seconds = 0;
  double bound_seconds = 0;
  double end = 0;  // of the last command
  std::vector<BoxView> boxes;
  std::vector<EdgeView> edges;
  std::vector<StreamView> streams;
  IdVector<CommandId, CommandView> commands;  // the first ones
  int64_t commands_left_out = 0;              // those not shown
  std::vector<MemoryView> memory;
  std::vector<TransferView> transfers;  // of the shown commands
};

struct PlanView {
  std::string name;
  std::string summary;
  std::vector<DeviceView> devices;
  std::vector<ViewedEntry> entries;
  Certificate certificate;  // of a proof made just now
  bool carried = false;     // the plan has its own
};

// Proves the plan first, then reads it; a plan that cannot be proved is refused
// with the checker's findings. InvalidArgument for notes that do not match.
absl::StatusOr<PlanView> ReadPlanView(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_PLAN_VIEW_H_
