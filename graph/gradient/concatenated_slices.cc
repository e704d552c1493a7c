// Finds padded slices and sorts them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gradient/concatenated_slices.h"

#include <algorithm>
#include <vector>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

struct PaddedSlice {
  ValueId value;
  int64_t axis;
  int64_t begin;
  int64_t end;
};

bool FillsWithZeros(const OpView& pad) {
  return pad.attr_string("mode") == "constant" &&
         pad.attr_number("value").To<double>() == 0;
}

std::optional<PaddedSlice> SliceOf(const Graph& graph, ValueId part) {
  const NodeId node = graph.value(part).defining_node;
  if (!node.valid() || graph.node(node).op != &kPad) return std::nullopt;
  const OpView pad = graph.view(node);
  if (!FillsWithZeros(pad)) return std::nullopt;
  std::optional<PaddedSlice> slice;
  for (int d = 0; d < pad.operand_type(0).rank(); ++d) {
    const int64_t before = pad.attr_ints("before")[d];
    const int64_t after = pad.attr_ints("after")[d];
    if (before == 0 && after == 0) continue;
    if (slice.has_value() || before < 0 || after < 0) return std::nullopt;
    slice = PaddedSlice{pad.operand(0).id(), d, before,
                        before + pad.operand_type(0).dims[d]};
  }
  return slice;
}

}  // namespace

std::optional<ConcatenatedSlices> FindConcatenation(
    const Graph& graph, absl::Span<const ValueId> parts) {
  std::vector<PaddedSlice> slices;
  for (ValueId part : parts) {
    const std::optional<PaddedSlice> slice = SliceOf(graph, part);
    if (!slice.has_value()) return std::nullopt;
    slices.push_back(*slice);
  }
  std::sort(slices.begin(), slices.end(),
            [](const PaddedSlice& a, const PaddedSlice& b) {
              return a.begin < b.begin;
            });
  ConcatenatedSlices concatenated{.axis = slices.front().axis};
  int64_t end = 0;
  for (const PaddedSlice& slice : slices) {
    if (slice.axis != concatenated.axis || slice.begin != end)
      return std::nullopt;
    concatenated.slices.push_back(slice.value);
    end = slice.end;
  }
  if (end != graph.type(parts[0]).dims[concatenated.axis]) return std::nullopt;
  return concatenated;
}

}  // namespace partita
