// Mutations of layouts: skipped reorders, other orders, lost padding.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "runtime/plan/checker/testing/mutants/command_list.h"
#include "runtime/plan/checker/testing/mutants/mutation_list.h"
#include "runtime/plan/checker/testing/mutants/set_layout.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// Values with smaller extents have the same order of bytes in several layouts.
constexpr int64_t kLeastExtent = 3;

bool IsPlain(BufferId id) { return id.valid() && id.index < kFirstSlot; }

bool RunsNode(const Graph& graph, const Command& command) {
  const NodeId node = command.instance.node;
  return command.kind == Kind::kKernel && node.valid() &&
         node.index < graph.node_id_bound() && graph.alive(node);
}

bool IsReorder(const Graph& graph, const Command& command) {
  return RunsNode(graph, command) &&
         graph.view(command.instance.node).is(kReorder) &&
         command.operands.size() == 1 && command.results.size() == 1 &&
         IsPlain(command.operands[0]) && IsPlain(command.results[0]);
}

// An operand of a command that a reorder writes.
struct ReorderedOperand {
  Place place;
  size_t operand;
  BufferId source;  // of the reorder
};

std::vector<ReorderedOperand> ReorderedOperands(const Entry& entry) {
  std::vector<ReorderedOperand> found;
  for (const Program& program : entry.programs) {
    for (const Command& reorder : program.commands) {
      if (!IsReorder(*entry.graph, reorder)) continue;
      for (const Place place :
           PlacesOf(entry, [](const Command&) { return true; })) {
        const Command& reader =
            entry.programs[place.program.index].commands[place.index];
        for (size_t k = 0; k < reader.operands.size(); ++k) {
          if (&reader == &reorder || reader.operands[k] != reorder.results[0]) {
            continue;
          }
          found.push_back({place, k, reorder.operands[0]});
        }
      }
    }
  }
  return found;
}

std::string SkipReorder(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<ReorderedOperand> reader =
      Draw(ReorderedOperands(entry), random);
  if (!reader.has_value()) return "";
  CommandAt(entry, reader->place).operands[reader->operand] = reader->source;
  return absl::StrCat("read !", entry.buffers[reader->source.index].name,
                      " without the reorder in ", TextOf(entry, reader->place));
}

// Inputs, and results of all nodes but sources, whose types are those of their
// bytes.
bool MayChangeLayout(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  const NodeId maker = graph.value(value).defining_node;
  if (maker.valid() &&
      (!graph.alive(maker) || graph.view(maker).is(kConstant) ||
       graph.view(maker).is(kVariable))) {
    return false;
  }
  return type.rank() == 2 &&
         *std::min_element(type.dims.begin(), type.dims.end()) >= kLeastExtent;
}

// Of a matrix: by rows, by columns, and in blocks of two rows or two columns.
std::vector<Layout> MatrixLayouts() {
  std::vector<Layout> layouts(1);
  for (const char* text : {"ba", "ab2a", "ba2b"}) {
    layouts.push_back(*ParseLayout(text, 2));
  }
  return layouts;
}

std::string ChangeLayout(Plan& plan, Random& random) {
  Graph& graph = EntryGraph(plan);
  std::vector<std::pair<ValueId, Layout>> changes;
  for (int v = 0; v < graph.value_id_bound(); ++v) {
    const ValueId value(v);
    if (!MayChangeLayout(graph, value)) continue;
    for (const Layout& layout : MatrixLayouts()) {
      if (layout != graph.type(value).layout) {
        changes.push_back({value, layout});
      }
    }
  }
  const auto change = Draw(changes, random);
  if (!change.has_value()) return "";
  const auto& [value, layout] = *change;
  SetLayout(graph, value, layout);
  return absl::StrCat("changed %", graph.value(value).name, " to ",
                      graph.type(value).ToString());
}

// A result of a kernel, with padding, in one block.
struct PaddedResult {
  BufferId buffer;
  int64_t padding;  // bytes
};

std::vector<PaddedResult> PaddedResults(const Entry& entry) {
  std::vector<PaddedResult> found;
  for (const Program& program : entry.programs) {
    for (const Command& command : program.commands) {
      if (!RunsNode(*entry.graph, command)) continue;
      const OpView node = entry.graph->view(command.instance.node);
      for (int r = 0; r < node.num_results(); ++r) {
        if (static_cast<size_t>(r) >= command.results.size()) break;
        const TensorType& type = node.result_type(r);
        const int64_t padding = type.num_bytes() - type.RowMajor().num_bytes();
        const BufferId buffer = command.results[r];
        if (padding == 0 || !IsPlain(buffer)) continue;
        const Range& range = entry.buffers[buffer.index].range;
        if (range.count == 1 && range.block == type.num_bytes()) {
          found.push_back({buffer, padding});
        }
      }
    }
  }
  return found;
}

std::string ForgetPadding(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<PaddedResult> result = Draw(PaddedResults(entry), random);
  if (!result.has_value()) return "";
  Buffer& buffer = entry.buffers[result->buffer.index];
  buffer.range.block -= result->padding;
  return absl::StrCat("left no room for the padding of !", buffer.name);
}

constexpr Mutation kLayoutMutations[] = {
    {"skip reorder", SkipReorder},
    {"change layout", ChangeLayout},
    {"forget padding", ForgetPadding},
};

}  // namespace

absl::Span<const Mutation> LayoutMutations() { return kLayoutMutations; }

}  // namespace partita
