// Finds the maker of each buffer, which decides its kind.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/memory_blocks.h"

#include <algorithm>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/simulate/memory_curve.h"

namespace partita {
namespace {

using Kind = BlockView::Kind;

struct Maker {
  Kind kind = Kind::kActivation;
  int box = -1;
};

// By buffer: the first command that writes it.
class Makers {
 public:
  Makers(const Entry& entry, const CommandList& commands, const BoxIndex& boxes)
      : boxes_(boxes), makers_(entry.buffers.size()) {
    known_.assign(entry.buffers.size(), false);
    for (const Channel& channel : entry.channels) {
      for (BufferId slot : channel.slots) Add(slot, {Kind::kTransfer, -1});
    }
    for (const Command& command : commands) Visit(command);
  }

  const Maker& of(BufferId id) const { return makers_[id]; }

 private:
  void Visit(const Command& command) {
    const Maker maker = MakerOf(command);
    for (BufferId id : command.results) Add(id, maker);
    if (command.workspace.valid()) {
      Add(command.workspace, {Kind::kWorkspace, maker.box});
    }
  }

  Maker MakerOf(const Command& command) const {
    switch (command.kind) {
      case Command::Kind::kFeed:
        return {Kind::kInput, boxes_.by_input[command.port]};
      case Command::Kind::kCopy:
      case Command::Kind::kRecv:
      case Command::Kind::kCollective:
        return {Kind::kTransfer, BoxOf(command)};
      case Command::Kind::kKernel:
        return {Kind::kActivation, BoxOf(command)};
      default:  // writes nothing
        return {};
    }
  }

  int BoxOf(const Command& command) const {
    return boxes_.by_node[command.instance.node.index];
  }

  void Add(BufferId id, const Maker& maker) {
    if (known_[id]) return;
    known_[id] = true;
    makers_[id] = maker;
  }

  const BoxIndex& boxes_;
  IdVector<BufferId, Maker> makers_;
  IdVector<BufferId, bool> known_;
};

void AddPersistent(const Entry& entry, const BoxIndex& boxes,
                   std::vector<std::vector<BlockView>>& blocks) {
  for (const PersistentValue& value : entry.persistent) {
    const Buffer& buffer = entry.buffers[value.buffer.index];
    if (buffer.range.empty()) continue;
    BlockView block;
    block.kind = entry.graph->view(value.node).is(kConstant) ? Kind::kConstant
                                                             : Kind::kVariable;
    block.name = buffer.name;
    block.box = boxes.by_node[value.node.index];
    block.begin = buffer.range.offset;
    block.end = buffer.range.end();
    block.persistent = true;
    blocks[buffer.device.index].push_back(std::move(block));
  }
  for (std::vector<BlockView>& of_device : blocks) {
    std::stable_sort(of_device.begin(), of_device.end(),
                     [](const BlockView& a, const BlockView& b) {
                       return a.begin < b.begin;
                     });
  }
}

}  // namespace

absl::StatusOr<std::vector<std::vector<BlockView>>> MemoryBlocks(
    const Plan& plan, int number, const CommandList& commands,
    const Simulation& times, const BoxIndex& boxes) {
  const Entry& entry = plan.entries[number];
  PARTITA_ASSIGN_OR_RETURN(const auto live, LiveBuffers(plan, number, times));
  const Makers makers(entry, commands, boxes);
  std::vector<std::vector<BlockView>> blocks(plan.devices.size());
  AddPersistent(entry, boxes, blocks);
  for (size_t d = 0; d < live.size(); ++d) {
    for (const LiveBuffer& range : live[d]) {
      const Buffer& buffer = entry.buffers[range.buffer.index];
      const Maker& maker = makers.of(range.buffer);
      blocks[d].push_back({maker.kind, buffer.name, maker.box,
                           buffer.range.offset, buffer.range.end(),
                           /*persistent=*/false, range.from, range.to});
    }
  }
  return blocks;
}

}  // namespace partita
