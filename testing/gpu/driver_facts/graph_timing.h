// Graphs of many empty kernels, and the times of their launches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_TIMING_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_TIMING_H_

#include <string>

#include "absl/status/statusor.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {

// `lanes` chains of `length` empty kernels each: what streams of a plan become.
// Every `crossing`-th kernel of a lane also waits for the lane beside it; 0:
// none does. `nodes`, unless null, takes all nodes.
absl::StatusOr<OwnedGraph> BuildLanes(const Gpu& gpu, int lanes, int length,
                                      int crossing = 0,
                                      GraphNodes* nodes = nullptr);

// Figures NAME_launch_us, host time of the call, and NAME_done_us, from the
// call to the end of the work: medians of some launches.
void TimeLaunches(const Gpu& gpu, CUgraphExec exec, CUstream stream,
                  const std::string& name, Steps& steps);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_TIMING_H_
