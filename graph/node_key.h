// A text that two nodes share exactly if every kernel treats them alike.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_NODE_KEY_H_
#define PARTITA_GRAPH_NODE_KEY_H_

#include <string>

#include "graph/op_view.h"

namespace partita {

// Op, attributes, extents and dtypes, and the same for a body, in which
// constants of one element count by value and others by type. Layouts do not
// count.
std::string NodeKey(const OpView& node);

}  // namespace partita

#endif  // PARTITA_GRAPH_NODE_KEY_H_
