// Reads the graphs of steps back through the driver, and proves that they do
// what the plan says.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_GRAPH_PROOF_H_
#define PARTITA_TESTS_GPU_GRAPH_PROOF_H_

#include "absl/status/status.h"
#include "runtime/executor/entry_runner.h"
#include "third_party/cuda_loader/driver_api.h"

namespace partita {

// For each graph of the entry, and each slot:
//   * its nodes are those of the commands: one launch of the bound function
//     with the command's addresses for a kernel, all bytes once for a copy, in
//     one hop or in two by way of page-locked memory;
//   * of two commands that the plan orders, each node of the one comes before
//     each node of the other, along edges. The order is found from the
//     commands: streams, and events from record to wait.
// FailedPrecondition with the first fault: the commands, and what was found.
// The devices are those of the CUDA driver.
absl::Status ProveGraphs(const EntryRunner& runner, const DriverApi& api);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_GRAPH_PROOF_H_
