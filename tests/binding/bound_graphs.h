// Graphs before and after kernels are chosen.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BINDING_BOUND_GRAPHS_H_
#define PARTITA_TESTS_BINDING_BOUND_GRAPHS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"

namespace partita {

struct BindingCase {
  std::string name;
  Machine machine;
  std::string strategy;  // of Planners()
  int micro_batches = 1;
  // No device has a kernel for a fused node: all are inlined.
  bool inlines_fused = false;
};

// The first function of a module, over the module's literals.
struct BoundGraph {
  std::string name;
  Module module;
  std::unique_ptr<Graph> placed;
  std::unique_ptr<Graph> bound;
};

// Runs the stages of a compilation up to the choice of kernels.
absl::StatusOr<BoundGraph> BindMain(Module module, const BindingCase& binding);

// Convolutions, blocked layouts, packed constants, fused tails, several
// devices, sharded batches, micro-batches and updates.
std::vector<BoundGraph> BoundModels();

}  // namespace partita

#endif  // PARTITA_TESTS_BINDING_BOUND_GRAPHS_H_
