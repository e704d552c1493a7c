// Compares nodes and their bodies.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/same_node.h"

namespace partita {
namespace {

bool SameBody(const Graph& a, const Graph& b) {
  const std::vector<OpView> x = a.ops();
  const std::vector<OpView> y = b.ops();
  if (x.size() != y.size() || a.inputs().size() != b.inputs().size() ||
      a.outputs().size() != b.outputs().size()) {
    return false;
  }
  Numbering in_a(a);
  Numbering in_b(b);
  int next = 0;
  for (size_t i = 0; i < a.inputs().size(); ++i) {
    if (!SameExtents(a.type(a.inputs()[i]), b.type(b.inputs()[i])))
      return false;
    in_a.Set(a.inputs()[i], next);
    in_b.Set(b.inputs()[i], next++);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!SameNode(x[i], y[i])) return false;
    for (int k = 0; k < x[i].num_operands(); ++k) {
      if (in_a.Of(x[i].operand(k).id()) != in_b.Of(y[i].operand(k).id())) {
        return false;
      }
    }
    for (int k = 0; k < x[i].num_results(); ++k) {
      in_a.Set(x[i].result(k).id(), next);
      in_b.Set(y[i].result(k).id(), next++);
    }
  }
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    if (in_a.Of(a.outputs()[i]) != in_b.Of(b.outputs()[i])) return false;
  }
  return true;
}

}  // namespace

bool SameExtents(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims;
}

bool SameNode(const OpView& a, const OpView& b) {
  const Node& x = a.node();
  const Node& y = b.node();
  if (x.op != y.op || !(x.attributes == y.attributes) ||
      x.operands.size() != y.operands.size() ||
      x.results.size() != y.results.size() ||
      x.regions.size() != y.regions.size()) {
    return false;
  }
  for (size_t i = 0; i < x.results.size(); ++i) {
    if (!SameExtents(a.result_type(i), b.result_type(i))) return false;
  }
  for (size_t i = 0; i < x.regions.size(); ++i) {
    if (!SameBody(*x.regions[i], *y.regions[i])) return false;
  }
  return true;
}

}  // namespace partita
