// What a user could choose in place of `auto`: strategies with their options,
// splits of every node, and layouts by hand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_RIVALS_H_
#define PARTITA_TESTS_BENCH_PLANS_RIVALS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "tests/bench/plans/benchmark_models.h"
#include "tests/bench/plans/row_bench.h"

namespace partita {

struct Rival {
  std::string name;  // "pipeline_2_gpipe_4"
  CompileOptions options;
};

// In this order, where the machine has the devices and the module is of use:
//   single_D       the whole graph on device D
//   data_K         K equal devices; _sharded: with sharded updates;
//                  _M: in M micro-batches
//   pipeline_K     K stages; _1f1b_M, _gpipe_M: in M micro-batches
//   list, search
//   whole_K, split0_K, split1_K
//                  one wildcard pin: every node over K equal devices, whole or
//                  split along dimension 0 or 1
//   layers_K       the layers of a model, by their scopes (in a graph without
//                  scopes each node), as K even stages on devices in the order
//                  of the machine, GPUs first: what the guide does by hand
//   hybrid         the embedding on the CPU and all other layers on one GPU:
//                  docs/guide/training.md
// K is 2 and the number of devices of the machine that are equal (for pipeline
// and layers: of all devices). Micro-batches are for training steps only.
std::vector<Rival> RivalsOf(const Module& module, const Machine& machine);

// The machines of examples/machines that the benchmark takes, without ".json".
std::vector<std::string> RivalMachines();

// The benchmark's models, and the graph of examples/mlp.graph, which it reads
// when it makes the module. `root` is the folder of examples/.
std::vector<BenchmarkModel> RivalModels(const std::string& root);

struct PlannedStep {
  double seconds = 0;    // predicted, of one step of every function
  std::string strategy;  // of the plan
};
// Errors as Predict's.
absl::StatusOr<PlannedStep> PlanStep(const Module& module,
                                     const Machine& machine,
                                     const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_RIVALS_H_
