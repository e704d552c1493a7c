// Prints modules, graphs and nodes in the textual IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_TEXT_PRINTER_H_
#define PARTITA_GRAPH_TEXT_PRINTER_H_

#include <string>

#include "graph/graph.h"

namespace partita {

// One node on each line:
//
//   %y = matmul %x, %w {transpose_b = true} : f32[32, 10] on gpu:0
//
// Omits attributes equal to their default. Constants of up to 16 elements are
// written in full, larger ones by type and content hash: text and literal pool
// together are complete (graph/text/parser.h reads them). Equal graphs give
// equal text.
std::string PrintModule(const Module& module);
std::string PrintGraph(const Graph& graph);

// `[1, 2]`, or `#` and the content hash.
std::string LiteralText(const LiteralPool& literals, LiteralId id);

}  // namespace partita

#endif  // PARTITA_GRAPH_TEXT_PRINTER_H_
