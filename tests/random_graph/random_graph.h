// Random valid graphs, for property tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_RANDOM_GRAPH_RANDOM_GRAPH_H_
#define PARTITA_TESTS_RANDOM_GRAPH_RANDOM_GRAPH_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

struct RandomGraphOptions {
  int steps = 16;               // each adds one node, or a pattern of a few
  int64_t max_extent = 6;       // of a dimension, as far as ops allow
  int64_t max_elements = 2000;  // of any value
  int max_inputs = 3;
  int max_outputs = 3;
  // Some nodes that no output needs, for passes to remove.
  bool dead_nodes = true;
  // Integer and bool values, and discontinuous ops (comparisons, rounding):
  // small differences between kernels may then become large.
  bool discrete = false;
};

// A module of one function @random; deterministic for seed and options. It has
// elementwise ops with broadcasting, matmul, convolution, pools, reductions,
// softmax, batch norm, ops that move bytes, residual diamonds, constants, ops
// without effect, and the patterns that passes look for. Values stay within a
// few powers of ten for inputs of RandomInputs.
Module RandomGraph(uint64_t seed, const RandomGraphOptions& options = {});

// Inputs for a graph: floats in [-1, 1), integers in [-4, 4) (unsigned: [0,
// 4)).
std::vector<HostTensor> RandomInputs(const Graph& graph, uint64_t seed);

}  // namespace partita

#endif  // PARTITA_TESTS_RANDOM_GRAPH_RANDOM_GRAPH_H_
