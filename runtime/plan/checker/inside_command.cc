// Overlaps inside one command: results and workspace against all else it
// accesses.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/block_overlaps.h"
#include "runtime/plan/checker/collective_rule.h"
#include "runtime/plan/checker/proof.h"
#include "runtime/plan/checker/shards.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

bool SameBytes(const Buffer& a, const Buffer& b) {
  return a.device == b.device && a.persistent == b.persistent &&
         a.range == b.range;
}

// True if `part` is a shard in place: the operand of an all_gather at its
// offset in the result, or the result of a reduce_scatter at its offset in the
// operand.
bool IsOwnSlice(const Buffer& part, const Buffer& whole, const Range& place) {
  Range expected = place;
  expected.offset += whole.range.offset;
  if (NumBlocks(whole.range) > 1 || part.device != whole.device ||
      part.persistent != whole.persistent) {
    return false;
  }
  return NumBlocks(expected) == 1 && NumBlocks(part.range) == 1 &&
         part.range.offset == expected.offset &&
         part.range.size() == expected.size();
}

bool CollectiveInPlace(const EntryView& view, const Command& command, int i) {
  const OpView node = view.graph().view(command.instance.node);
  const Buffer& operand = view.buffer(command.operands[i]);
  const Buffer& result = view.buffer(command.results[i]);
  const int ranks = NumRanks(node.node().placement);
  const int rank = command.instance.rank;
  switch (RuleOf(*view.collective(command).kind).in_place) {
    case CollectiveRule::InPlace::kSame:
      return SameBytes(operand, result);
    case CollectiveRule::InPlace::kOperandInResult:
      return IsOwnSlice(
          operand, result,
          ShardOfWhole(node.operand_type(i), OperandSharding(node.node(), i),
                       rank, ranks));
    case CollectiveRule::InPlace::kResultInOperand:
      return IsOwnSlice(
          result, operand,
          ShardOfWhole(node.result_type(i), ResultSharding(node.node(), i),
                       rank, ranks));
    case CollectiveRule::InPlace::kNever:
      return false;
  }
  return false;
}

// The operands that a result may overwrite in place: only the other buffer
// needs to be compared.
std::vector<bool> OperandsInPlace(const EntryView& view,
                                  const Command& command) {
  std::vector<bool> in_place(command.operands.size());
  if (command.kind == Command::Kind::kCollective) {
    const size_t pairs = std::min(in_place.size(), command.results.size());
    for (size_t i = 0; i < pairs; ++i) {
      in_place[i] = CollectiveInPlace(view, command, static_cast<int>(i));
    }
  }
  if (command.kind != Command::Kind::kKernel) return in_place;
  const Node& node = view.graph().node(command.instance.node);
  if (!node.kernel.has_value()) return in_place;
  for (const InPlacePair& pair : node.kernel->in_place) {
    if (pair.operand < 0 || pair.result < 0 ||
        pair.operand >= static_cast<int>(command.operands.size()) ||
        pair.result >= static_cast<int>(command.results.size())) {
      continue;
    }
    if (SameBytes(view.buffer(command.operands[pair.operand]),
                  view.buffer(command.results[pair.result]))) {
      in_place[pair.operand] = true;
    }
  }
  return in_place;
}

// The blocks that the command accesses; those that it writes are exclusive.
std::vector<UsedBlock> BlocksOf(const EntryView& view, const Command& command) {
  std::vector<UsedBlock> blocks;
  const std::vector<bool> in_place = OperandsInPlace(view, command);
  // A scattered result is inside its operand, so the operand stays.
  const auto is_inside = [&](size_t i) {
    return command.kind == Command::Kind::kCollective && in_place[i] &&
           view.buffer(command.operands[i]).range.size() >
               view.buffer(command.results[i]).range.size();
  };
  for (size_t i = 0; i < command.operands.size(); ++i) {
    if (in_place[i] && !is_inside(i)) continue;
    AddBlocks(view, command.operands[i], is_inside(i), blocks);
  }
  for (size_t i = 0; i < command.results.size(); ++i) {
    if (i < in_place.size() && is_inside(i)) continue;
    AddBlocks(view, command.results[i], /*exclusive=*/true, blocks);
  }
  if (command.workspace.valid()) {
    AddBlocks(view, command.workspace, /*exclusive=*/true, blocks);
  }
  return blocks;
}

Finding OverlapInside(const EntryView& view, CommandId c,
                      const UsedBlock& block, const UsedBlock& other) {
  const UsedBlock& written = block.exclusive ? block : other;
  const UsedBlock& overlapped = block.exclusive ? other : block;
  Finding finding = view.Found(
      Rule::kInsideCommand, c,
      absl::StrCat(view.places.Text(c), " ",
                   CommandKindName(view.commands[c].kind), " writes ",
                   view.BufferText(written.buffer), ", which overlaps its own ",
                   view.BufferText(overlapped.buffer),
                   "; its signature allows no such result in place; use bytes "
                   "of its own"));
  finding.device = block.device;
  finding.bytes = {block.bytes.begin,
                   std::min(block.bytes.end, other.bytes.end)};
  return finding;
}

// Reports the first overlap.
void CheckInside(const EntryView& view, CommandId c, Findings& findings) {
  const Command& command = view.commands[c];
  if (command.results.empty() && !command.workspace.valid()) return;
  ForEachOverlap(BlocksOf(view, command),
                 [&](const UsedBlock& block, const UsedBlock& other) {
                   findings.Add(OverlapInside(view, c, block, other));
                   return false;
                 });
}

}  // namespace

void CheckInsideCommands(const EntryView& view, Findings& findings) {
  for (CommandId c : view.commands.ids()) {
    CheckInside(view, c, findings);
    if (findings.full()) return;
  }
}

}  // namespace partita
