// Counts live bytes by value.
// SPDX-License-Identifier: Apache-2.0

#include "tests/lowering/sequential_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/round_up.h"

namespace partita {
namespace {

int64_t Aligned(int64_t bytes) { return RoundUp(bytes, 64); }

// The bytes of a value, as a range of the root value that a command computes.
struct Part {
  ValueId root;
  int64_t begin = 0;
  int64_t end = 0;
};

class Counter {
 public:
  explicit Counter(const Entry& entry)
      : entry_(entry),
        graph_(*entry.graph),
        commands_(*Expand(entry)),
        parts_(graph_.value_id_bound()) {}

  int64_t Run() {
    FindParts();
    FindLastReads();
    int64_t peak = 0;
    for (CommandId c : commands_.ids()) peak = std::max(peak, LiveAt(c));
    return peak;
  }

 private:
  // A node without a command is a view.
  void FindParts() {
    std::set<NodeId> launched;
    for (const Command& command : commands_) {
      if (command.instance.node.valid()) launched.insert(command.instance.node);
    }
    for (ValueId input : graph_.inputs()) OwnRoot(input);
    for (const OpView& op : graph_.ops()) {
      const bool source = op.is(kConstant) || op.is(kVariable);
      for (int i = 0; i < op.num_results(); ++i) {
        const ValueId result = op.result(i).id();
        OwnRoot(result);
        if (source) persistent_.insert(result);
        if (source || launched.contains(op.id())) continue;
        const std::optional<std::vector<ByteMove>> moves = op.op().moves(op);
        if (!moves.has_value()) continue;
        for (const ByteMove& move : *moves) {
          if (move.result != i) continue;
          const Part& from = parts_[op.operand(move.operand).id().index];
          parts_[result.index] = {
              from.root, from.begin + move.operand_offset,
              from.begin + move.operand_offset + move.block * move.count};
        }
      }
    }
    for (const VariableUpdate& update : graph_.updates()) {
      persistent_.insert(update.value);
    }
  }

  void OwnRoot(ValueId value) {
    parts_[value.index] = {value, 0, graph_.type(value).num_bytes()};
  }

  struct Read {
    CommandId command;
    int64_t begin;
    int64_t end;
  };

  std::vector<ValueId> ReadBy(const Command& command) const {
    switch (command.kind) {
      case Command::Kind::kKernel:
      case Command::Kind::kCopy: {
        const ValueIds& operands = graph_.node(command.instance.node).operands;
        return {operands.begin(), operands.end()};
      }
      case Command::Kind::kFetch:
        return {graph_.outputs()[command.port]};
      default:
        return {};
    }
  }
  std::vector<ValueId> MadeBy(const Command& command) const {
    if (command.kind == Command::Kind::kFeed) {
      return {graph_.inputs()[command.port]};
    }
    if (command.kind != Command::Kind::kKernel &&
        command.kind != Command::Kind::kCopy) {
      return {};
    }
    const ValueIds& results = graph_.node(command.instance.node).results;
    return {results.begin(), results.end()};
  }

  void FindLastReads() {
    for (CommandId c : commands_.ids()) {
      for (ValueId value : ReadBy(commands_[c])) {
        const Part& part = parts_[value.index];
        reads_[part.root].push_back({c, part.begin, part.end});
      }
      for (ValueId value : MadeBy(commands_[c])) made_[value] = c;
    }
  }

  // Bytes of the root that are read at or after `command`.
  int64_t Needed(ValueId root, CommandId command) const {
    const auto it = reads_.find(root);
    if (it == reads_.end()) return 0;
    std::map<int64_t, int> change;
    for (const Read& read : it->second) {
      if (read.command < command || read.begin == read.end) continue;
      ++change[read.begin];
      --change[read.end];
    }
    int64_t bytes = 0;
    int64_t since = 0;
    int depth = 0;
    for (const auto& [at, by] : change) {
      if (depth > 0) bytes += Aligned(at) - Aligned(since);
      depth += by;
      since = at;
    }
    return bytes;
  }

  int64_t LiveAt(CommandId c) const {
    const Command& command = commands_[c];
    int64_t live = 0;
    for (const auto& [value, made] : made_) {
      if (persistent_.contains(value)) continue;
      if (made < c) live += Needed(value, c);
      if (made == c) live += Aligned(graph_.type(value).num_bytes());
    }
    if (command.kind != Command::Kind::kKernel) return live;
    live += Aligned(graph_.node(command.instance.node).kernel->workspace);
    return live - SavedInPlace(c);
  }

  int64_t SavedInPlace(CommandId c) const {
    const Node& node = graph_.node(commands_[c].instance.node);
    std::set<ValueId> roots;
    std::set<int> results;
    int64_t saved = 0;
    for (const InPlacePair& pair : node.kernel->in_place) {
      const Part& part = parts_[node.operands[pair.operand].index];
      const ValueId result = node.results[pair.result];
      const int64_t bytes = graph_.type(result).num_bytes();
      const bool dies =
          std::all_of(reads_.at(part.root).begin(), reads_.at(part.root).end(),
                      [&](const Read& read) {
                        return read.command <= c || read.end <= part.begin ||
                               read.begin >= part.end;
                      });
      const auto times = std::count_if(
          node.operands.begin(), node.operands.end(), [&](ValueId operand) {
            return parts_[operand.index].root == part.root;
          });
      if (!dies || times > 1 || part.end - part.begin != bytes ||
          persistent_.contains(part.root) || persistent_.contains(result) ||
          results.contains(pair.result) || !roots.insert(part.root).second) {
        continue;
      }
      results.insert(pair.result);
      saved += Aligned(bytes);
    }
    return saved;
  }

  const Entry& entry_;
  const Graph& graph_;
  const CommandList commands_;
  std::vector<Part> parts_;       // by value id
  std::set<ValueId> persistent_;  // roots that persist between steps
  std::map<ValueId, std::vector<Read>> reads_;  // by root
  std::map<ValueId, CommandId> made_;
};

}  // namespace

int64_t SequentialBound(const Entry& entry) { return Counter(entry).Run(); }

}  // namespace partita
