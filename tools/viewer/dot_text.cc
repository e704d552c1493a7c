// Writes the clusters, boxes and edges.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/dot_text.h"

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/utf8.h"
#include "tools/viewer/scope_tree.h"

namespace partita {
namespace {

// Quotes and backslashes escaped, so that nothing in a name is an escape of
// Graphviz's; control characters shown as spaces,
// and what is not UTF-8 as U+FFFD.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  quoted.push_back('"');
  return quoted;
}

class DotWriter {
 public:
  explicit DotWriter(const PlanView& plan) : plan_(plan) {}

  std::string Write() {
    absl::StrAppend(&text_, "digraph ", Quoted(plan_.name), " {\n",
                    "  fontname = \"Helvetica\"; fontsize = 11; "
                    "fontcolor = \"#5f6b7a\"; color = \"#d5dae1\";\n"
                    "  node [shape = box, style = \"rounded,filled\", "
                    "fontname = \"Helvetica\", fontsize = 11];\n"
                    "  edge [color = \"#8a94a3\", arrowsize = 0.6, fontname = "
                    "\"Helvetica\", fontsize = 9];\n");
    for (size_t e = 0; e < plan_.entries.size(); ++e) {
      WriteEntry(static_cast<int>(e));
    }
    return text_ + "}\n";
  }

 private:
  void WriteEntry(int index) {
    const ViewedEntry& entry = plan_.entries[index];
    const ScopeTree tree = GroupByScope(entry);
    std::vector<std::vector<int>> boxes(tree.groups.size());
    std::vector<std::vector<int>> children(tree.groups.size());
    for (size_t b = 0; b < entry.boxes.size(); ++b) {
      boxes[tree.group_of[b]].push_back(static_cast<int>(b));
    }
    for (size_t g = 1; g < tree.groups.size(); ++g) {
      children[tree.groups[g].parent].push_back(static_cast<int>(g));
    }
    WriteGroup(index, 0, tree, boxes, children, "  ");
    for (const EdgeView& edge : entry.edges) WriteEdge(index, edge);
  }

  // As deep as scopes are, which GroupByScope bounds.
  void WriteGroup(int entry, int group, const ScopeTree& tree,
                  const std::vector<std::vector<int>>& boxes,
                  const std::vector<std::vector<int>>& children,
                  const std::string& indent) {
    const std::string& label =
        group == 0 ? plan_.entries[entry].name : tree.groups[group].name;
    absl::StrAppend(&text_, indent, "subgraph cluster_", entry, "_", group,
                    " {\n", indent, "  label = ", Quoted(label), ";\n");
    for (int box : boxes[group]) WriteBox(entry, box, indent);
    for (int child : children[group]) {
      WriteGroup(entry, child, tree, boxes, children, indent + "  ");
    }
    absl::StrAppend(&text_, indent, "}\n");
  }

  void WriteBox(int entry, int index, const std::string& indent) {
    const BoxView& box = plan_.entries[entry].boxes[index];
    const DeviceColors colors = box.devices.empty()
                                    ? DeviceColors{"#f1f3f5", "#8a94a3"}
                                    : ColorsOf(box.devices.front());
    // The line break is Graphviz's, between two names that are quoted.
    std::string label = Quoted(box.op);
    label.pop_back();
    absl::StrAppend(&text_, indent, "  n", entry, "_", index,
                    " [label = ", label, "\\n", Quoted(box.name).substr(1),
                    ", fillcolor = \"", colors.fill, "\", color = \"",
                    colors.line, "\"];\n");
  }

  void WriteEdge(int entry, const EdgeView& edge) {
    absl::StrAppend(&text_, "  n", entry, "_", edge.from, " -> n", entry, "_",
                    edge.to);
    if (edge.cut) {
      absl::StrAppend(&text_, " [penwidth = 2.5, color = \"#2b3440\", label = ",
                      Quoted(absl::StrCat(edge.bytes, " B")), "]");
    }
    absl::StrAppend(&text_, ";\n");
  }

  const PlanView& plan_;
  std::string text_;
};

}  // namespace

std::string DotText(const PlanView& plan) { return DotWriter(plan).Write(); }

DeviceColors ColorsOf(int device) {
  // The hues of page/shown_state.js, in its order.
  constexpr std::array<DeviceColors, 8> kColors = {{{"#dfe9f7", "#3f6fb0"},
                                                    {"#fae6d4", "#c0702a"},
                                                    {"#dbf0e3", "#35895a"},
                                                    {"#f6deea", "#b04a80"},
                                                    {"#e8e2f7", "#7457b8"},
                                                    {"#d9eff1", "#2c8590"},
                                                    {"#f3edcf", "#93801f"},
                                                    {"#f8dedd", "#b84a45"}}};
  return kColors[device % kColors.size()];
}

}  // namespace partita
