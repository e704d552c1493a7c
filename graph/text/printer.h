// Modules, graphs and nodes as the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PRINTER_H_
#define PARTITA_GRAPH_TEXT_PRINTER_H_

#include <string>

#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

// One node a line:
//
//   %y = matmul %x, %w {transpose_b = true} : f32[32, 10] on gpu:0
//
// Attributes equal to their default are left out. Constants of up to 16
// elements are written in full, larger ones by type and content hash, so text
// and literal pool together hold everything (graph/text/parser.h reads them
// back). The same graph gives the same text.
std::string PrintModule(const Module& module);
std::string PrintGraph(const Graph& graph);

// The node's line (its bodies with it), without indentation or line end. It
// names the whole graph's values first, so print a graph by PrintGraph.
std::string PrintNode(const OpView& node);

// The placement as a node's line ends with it: "on gpu:0",
// "on {gpu:0, gpu:1} (split 0, replicated) -> (partial sum)"; empty if not
// placed.
std::string PlacementText(const Placement& placement);

// `[1, 2]`, or `#` and the content hash.
std::string LiteralText(const LiteralPool& literals, LiteralId id);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PRINTER_H_
