// One entry of a plan with its schedule expanded, as every obligation reads it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/command_places.h"
#include "runtime/plan/plan.h"

namespace partita {

// What the parts of one node do together; no kind if it is no collective.
struct Collective {
  std::optional<CollectiveKind> kind;
  std::vector<CollectiveMember> members;
};

struct EntryView {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  int index = 0;
  std::vector<Command> commands;  // in launch order
  CommandPlaces places;           // of these commands, for messages
  int num_micro_batches = 1;
  // Of the nodes that collective commands name.
  absl::flat_hash_map<NodeId, Collective> collectives;

  const Collective& collective(const Command& part) const {
    return collectives.at(part.instance.node);
  }
  const Graph& graph() const { return *entry->graph; }
  const Buffer& buffer(BufferId id) const { return entry->buffers[id.index]; }
  const PlanDevice& device(DeviceId id) const {
    return plan->devices[id.index];
  }
  DeviceId device_of(const Command& command) const {
    return entry->streams[command.stream.index].device;
  }
  // Micro-batches that the commands speak of.
  int micro_batches() const { return num_micro_batches; }
  // Takes the schedule as it was written out, and drops it again.
  void SetCommands(std::vector<Command> expanded);
  void DropCommands();

  // For messages: "%h" as the graph's text has it, and what makes a value that
  // has no name of its own, "%12 (add in encoder/layer3)"; "relu %h". They look
  // through the whole graph: only for what is found, not for what is looked at.
  std::string ValueText(ValueId id) const;
  std::string NodeText(NodeId id) const;
  // "gpu:1 !h", "gpu:0/copy", "plan @mlp: ".
  std::string BufferText(BufferId id) const;
  std::string StreamText(StreamId id) const;
  // "bytes 128..136", or "persistent bytes 0..24": of the arena's part that the
  // buffer lies in, as its line in the plan's text counts them. `bytes` are
  // absolute, in the copy `copy` of the step-local part.
  std::string BytesText(const Buffer& buffer, ByteSpan bytes,
                        int copy = 0) const;
  std::string Prefix() const;
  // A finding about command `command`, with the prefix before `message`.
  Finding Found(Rule rule, int command, absl::string_view message) const;
};

// Blocks of all ranges that the commands touch: a plan may give the proof as
// much more work as it states.
int64_t StatedBlocks(const EntryView& view);

// Offset in its arena of the part that `buffer` lies in, for the copy `copy` of
// the step-local part.
int64_t PartBegin(const PlanDevice& device, const Buffer& buffer, int copy);

// Calls visit(ByteSpan) for the maximal blocks of a range whose part begins at
// `base`, in order of address; nothing for an empty one.
template <typename Visit>
void ForEachBlock(const Range& range, int64_t base, Visit&& visit) {
  if (range.empty()) return;
  int64_t begin = base + range.offset;
  if (range.count == 1 || range.stride == range.block) {
    visit(ByteSpan{begin, begin + range.size()});
    return;
  }
  for (int64_t i = 0; i < range.count; ++i, begin += range.stride) {
    visit(ByteSpan{begin, begin + range.block});
  }
}

// How many blocks ForEachBlock visits.
inline int64_t NumBlocks(const Range& range) {
  if (range.empty()) return 0;
  return range.stride == range.block ? 1 : range.count;
}

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_
