// One entry of a plan with its schedule expanded, the input of every
// obligation.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "graph/id_vector.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/command_places.h"
#include "runtime/plan/plan.h"

namespace partita {

// The collective that one node performs; without a kind if it is none.
struct Collective {
  std::optional<CollectiveKind> kind;
  std::vector<Participant> ranks;
};

struct EntryView {
  const Plan* plan = nullptr;
  const Entry* entry = nullptr;
  int index = 0;
  CommandList commands;  // in launch order
  CommandPlaces places;  // of these commands, for messages
  int num_micro_batches = 1;
  // By node of a collective command.
  absl::flat_hash_map<NodeId, Collective> collectives;

  const Collective& collective(const Command& command) const {
    return collectives.at(command.instance.node);
  }
  const Graph& graph() const { return *entry->graph; }
  const Buffer& buffer(BufferId id) const { return entry->buffers[id.index]; }
  const PlanDevice& device(DeviceId id) const {
    return plan->devices[id.index];
  }
  DeviceId device_of(const Command& command) const {
    return entry->streams[command.stream.index].device;
  }
  // The number of micro-batches that the commands name.
  int micro_batches() const { return num_micro_batches; }
  // Sets the expanded schedule, and drops it again.
  void SetCommands(CommandList expanded);
  void DropCommands();

  // For messages. A value is "%h" as in the graph's text; a value without a
  // name also has its node: "%12 (add in encoder/layer3)". A node is "relu %h".
  // Both search the whole graph, so call them only for findings.
  std::string ValueText(ValueId id) const;
  std::string NodeText(NodeId id) const;
  // "gpu:1 !h", "gpu:0/copy", "plan @mlp: ".
  std::string BufferText(BufferId id) const;
  std::string StreamText(StreamId id) const;
  // "bytes 128..136", or "persistent bytes 0..24": offsets in the buffer's part
  // of the arena, as in the plan's text. `bytes` are absolute, in copy `copy`
  // of the step-local part.
  std::string BytesText(const Buffer& buffer, ByteSpan bytes,
                        int copy = 0) const;
  std::string Prefix() const;
  // A finding about the entry or one command, with the usual prefix before
  // `message`.
  Finding Found(Rule rule, absl::string_view message) const;
  Finding Found(Rule rule, CommandId command, absl::string_view message) const;
};

// The number of blocks of the ranges of a command's operands and results.
int64_t StatedBlocks(const EntryView& view, const Command& command);

// How many intervals of bytes a proof may visit. A sensible plan needs fewer;
// a hostile one of a few kilobytes can state ranges of billions of blocks.
int64_t MaxVisits(const EntryView& view);

// The offset in the arena of the part that holds `buffer`, for copy `copy` of
// the step-local part.
int64_t PartBegin(const PlanDevice& device, const Buffer& buffer, int copy);

// Calls visit(ByteSpan) for the maximal blocks of a range in a part that begins
// at `base`, in order of address. An empty range has no block.
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

// The number of blocks that ForEachBlock visits.
inline int64_t NumBlocks(const Range& range) {
  if (range.empty()) return 0;
  return range.stride == range.block ? 1 : range.count;
}

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ENTRY_VIEW_H_
