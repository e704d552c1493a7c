// Which results are bytes of an operand, as they are stored.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_VIEWS_H_
#define PARTITA_GRAPH_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op_view.h"

namespace partita {

// A view begins at a multiple of this many bytes, as kernels may ask of all
// their operands.
inline constexpr int64_t kViewAlignment = 64;

// A result is the bytes of an operand from `offset` on.
struct ViewOf {
  int operand = 0;
  int64_t offset = 0;
  // The result has all bytes of the operand, in their order: then each shard of
  // it is a view too, of a shard that is split alike.
  bool is_whole = false;
};

// One entry for each result if the node needs no kernel and no bytes of its
// own, as a reshape of a row-major value does; otherwise nothing. The answer is
// for whole row-major values, whatever layouts and devices the node has.
std::optional<std::vector<ViewOf>> ViewsOf(const OpView& op);

// True if the one result is a view of all of operand 0.
bool IsWholeView(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_VIEWS_H_
