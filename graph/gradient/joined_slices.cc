// Reads pads as pieces, and puts them in order.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gradient/joined_slices.h"

#include <algorithm>
#include <vector>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

struct Piece {
  ValueId value;
  int64_t axis;
  int64_t begin;
  int64_t end;
};

bool FillsWithZeros(const OpView& pad) {
  return pad.attr_string("mode") == "constant" &&
         pad.attr_number("value").To<double>() == 0;
}

std::optional<Piece> PieceOf(const Graph& graph, ValueId part) {
  const NodeId node = graph.value(part).defining_node;
  if (!node.valid() || graph.node(node).op != &kPad) return std::nullopt;
  const OpView pad = graph.view(node);
  if (!FillsWithZeros(pad)) return std::nullopt;
  std::optional<Piece> piece;
  for (int d = 0; d < pad.operand_type(0).rank(); ++d) {
    const int64_t before = pad.attr_ints("before")[d];
    const int64_t after = pad.attr_ints("after")[d];
    if (before == 0 && after == 0) continue;
    if (piece.has_value() || before < 0 || after < 0) return std::nullopt;
    piece = Piece{pad.operand(0).id(), d, before,
                  before + pad.operand_type(0).dims[d]};
  }
  return piece;
}

}  // namespace

std::optional<JoinedSlices> JoinSlices(const Graph& graph,
                                       absl::Span<const ValueId> parts) {
  std::vector<Piece> pieces;
  for (ValueId part : parts) {
    const std::optional<Piece> piece = PieceOf(graph, part);
    if (!piece.has_value()) return std::nullopt;
    pieces.push_back(*piece);
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  JoinedSlices joined{.axis = pieces.front().axis};
  int64_t end = 0;
  for (const Piece& piece : pieces) {
    if (piece.axis != joined.axis || piece.begin != end) return std::nullopt;
    joined.pieces.push_back(piece.value);
    end = piece.end;
  }
  if (end != graph.type(parts[0]).dims[joined.axis]) return std::nullopt;
  return joined;
}

}  // namespace partita
