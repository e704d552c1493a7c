// ONNX's reductions.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <utility>

#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// The axes are an attribute or, in newer opsets, an input. No axes means all,
// unless noop_with_empty_axes is set: then each element is reduced alone, which
// leaves the elementwise part of the op (a square, a magnitude).
template <const OpDef& op>
absl::Status Reduce(NodeImport& node) {
  std::vector<int64_t> axes = node.IntList("axes");
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(axes, node.Ints(1, "axes"));
  }
  const bool keep = node.Flag("keepdims", true);
  const bool none_is_none = node.Flag("noop_with_empty_axes", false);
  if (axes.empty() && !none_is_none) {
    axes.resize(node.rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  PARTITA_ASSIGN_OR_RETURN(axes, node.Axes(std::move(axes), node.rank(0)));
  return node.Return(node.Add(
      op, {node.input(0)}, {{"axes", std::move(axes)}, {"keep_dims", keep}}));
}

template <const OpDef& op>
absl::Status ArgExtreme(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", 0), node.rank(0)));
  return node.Return(
      node.Add(op, {node.input(0)},
               {{"axis", axis},
                {"keep_dims", node.Flag("keepdims", true)},
                {"last_index", node.Flag("select_last_index", false)}}));
}

template <const OpDef& op>
constexpr ConverterRow ReductionRow(const char* name) {
  return {name, Reduce<op>, 1, 1, "axes keepdims noop_with_empty_axes"};
}

template <const OpDef& op>
constexpr ConverterRow ArgExtremeRow(const char* name) {
  return {name, ArgExtreme<op>, 1, 1, "axis keepdims select_last_index"};
}

constexpr ConverterRow kRows[] = {
    ArgExtremeRow<kArgMax>("ArgMax"),
    ArgExtremeRow<kArgMin>("ArgMin"),
    ReductionRow<kReduceL1>("ReduceL1"),
    ReductionRow<kReduceL2>("ReduceL2"),
    ReductionRow<kReduceLogSum>("ReduceLogSum"),
    ReductionRow<kReduceLogSumExp>("ReduceLogSumExp"),
    ReductionRow<kReduceMax>("ReduceMax"),
    ReductionRow<kReduceMean>("ReduceMean"),
    ReductionRow<kReduceMin>("ReduceMin"),
    ReductionRow<kReduceProd>("ReduceProd"),
    ReductionRow<kReduceSum>("ReduceSum"),
    ReductionRow<kReduceSumSquare>("ReduceSumSquare"),
};

}  // namespace

extern constinit const ConverterFamily kReduceConverters = {kRows};

}  // namespace partita
