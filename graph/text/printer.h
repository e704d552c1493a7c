// Modules, graphs and nodes as the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PRINTER_H_
#define PARTITA_GRAPH_TEXT_PRINTER_H_

#include <string>

#include "graph/graph.h"

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

// `[1, 2]`, or `#` and the content hash.
std::string LiteralText(const LiteralPool& literals, LiteralId id);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PRINTER_H_
