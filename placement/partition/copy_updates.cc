// Copies new values home. A value that shares a variable's bytes is copied
// twice.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/copy_updates.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// True if the value shares bytes with a variable, which an update may
// overwrite.
bool ComesFromVariable(const Graph& graph, ValueId value) {
  while (graph.value(value).defining_node.valid()) {
    const OpView op = graph.view(graph.value(value).defining_node);
    if (op.is(kVariable)) return true;
    if (op.op().moves == nullptr || op.num_operands() == 0) return false;
    value = op.operand(0).id();
  }
  return false;
}

// Named after the value that reads the variable: that name is an identifier.
std::string UpdateName(const Graph& graph, const Node& reader,
                       absl::string_view suffix) {
  const std::string& name = graph.value(reader.results[0]).name;
  return name.empty() ? name : absl::StrCat(name, suffix);
}

// The update reads a copy of its value on the variable's home.
absl::Status CopyHome(Graph& graph, const Sources& sources,
                      Connector& connector, absl::string_view suffix,
                      size_t number) {
  const VariableUpdate update = graph.updates()[number];
  const Node& home = graph.node(sources.home(update.variable));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId copy,
      connector.CopyAtEnd(update.value, ResultPlace(home.placement, 0),
                          UpdateName(graph, home, suffix),
                          absl::StrCat("update of ", update.variable)));
  graph.SetUpdate(static_cast<int>(number), copy);
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyUpdates(Graph& graph, const Sources& sources,
                         Connector& connector) {
  for (size_t i = 0; i < graph.updates().size(); ++i) {
    if (!ComesFromVariable(graph, graph.updates()[i].value)) continue;
    PARTITA_RETURN_IF_ERROR(CopyHome(graph, sources, connector, ".new", i));
  }
  for (size_t i = 0; i < graph.updates().size(); ++i) {
    PARTITA_RETURN_IF_ERROR(CopyHome(graph, sources, connector, ".next", i));
  }
  return absl::OkStatus();
}

}  // namespace partita
