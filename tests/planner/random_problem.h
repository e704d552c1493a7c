// Random placement problems that are small enough to solve exactly.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_PLANNER_RANDOM_PROBLEM_H_
#define PARTITA_TESTS_PLANNER_RANDOM_PROBLEM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "placement/machine/machine.h"

namespace partita {

enum class MachineShape : uint8_t {
  kEqualCpus,    // two
  kUnequalCpus,  // two, the second 1.5 to 3 times slower
  kGpus,         // two, without a CPU
  kCpuAndGpus,   // one and two
};
inline constexpr MachineShape kMachineShapes[] = {
    MachineShape::kEqualCpus, MachineShape::kUnequalCpus, MachineShape::kGpus,
    MachineShape::kCpuAndGpus};
// "equal CPUs", "a CPU and two GPUs".
std::string MachineShapeName(MachineShape shape);

struct ProblemOptions {
  MachineShape shape = MachineShape::kEqualCpus;
  int least_nodes = 8;
  int most_nodes = 11;
};

// A graph of matmuls, softmaxes and relus over two or three inputs, and a
// machine whose rates and links are drawn too. `nodes` names the first result
// of every node that computes. The same seed makes the same problem.
struct PlacementProblem {
  Module module;
  std::vector<std::string> nodes;
  Machine machine;
};
PlacementProblem RandomProblem(uint64_t seed, const ProblemOptions& options);

}  // namespace partita

#endif  // PARTITA_TESTS_PLANNER_RANDOM_PROBLEM_H_
