// Runs of a plan on emulated GPUs whose driver has one fault.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GPU_SOWN_FAULTS_PLAN_RUN_H_
#define PARTITA_TESTS_GPU_SOWN_FAULTS_PLAN_RUN_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/gpu_split.h"
#include "graph/host_tensor.h"
#include "runtime/plan/plan.h"
#include "testing/emulated_gpu/driver/options.h"
#include "tests/gpu/sown_faults/issued_work.h"
#include "tests/gpu/sown_faults/sown_fault.h"

namespace partita {

// A plan of one entry without collectives, and the machine that it runs on.
struct Workload {
  std::shared_ptr<const Plan> plan;
  emulated_gpu::EmulatedGpuOptions machine;
  GpuSplit split;                   // of its GPUs
  std::vector<NeededOrder> needed;  // NeededOrders of the plan
  bool launches_graphs = true;      // ExecutorOptions
  uint64_t steps = 2;               // of each session, at most 16
  int in_flight = 1;                // steps at once; at most the plan's depth
  // Of the plan at once. Their steps take turns.
  int sessions = 1;
  bool traces = false;  // RunOptions
  // In a run with a fault, a thread that is about to wait for a GPU lets the
  // commands of CPUs go first that nothing holds back: for so long, if the
  // machine is that slow. It waits no longer than they take, and not at all
  // once a call has failed, as the program may then have stopped.
  std::chrono::milliseconds head_start = std::chrono::seconds(30);
};

// What came of steps with inputs of their own, from load to end.
struct PlanRun {
  // The first error; OK if there was none.
  absl::Status status;
  // Of the software GPU; EmulatedMachine::Faults.
  std::vector<std::string> findings;
  // The outputs, then the variables, of each step without an error; the
  // variables at the end only, if steps overlap.
  std::vector<HostTensor> values;

  // The judge, which does not ask the software GPU: orders that the plan needs
  // and that the calls do not give, and what was not given back.
  std::vector<std::string> violations;
  std::vector<std::string> kept;

  int graphs = 0;  // of a step
  // Of a run without a fault: ProveGraphs, which reads the graphs back.
  absl::Status proof;
  bool is_sown = false;  // the fault
  std::array<int64_t, kCallKinds> calls{};
};

// Needs: no other emulated machine.
PlanRun RunPlan(const Workload& workload, std::optional<SownFault> fault);

// Equal in number and bits.
bool HaveEqualBits(const std::vector<HostTensor>& a,
                   const std::vector<HostTensor>& b);

}  // namespace partita

#endif  // PARTITA_TESTS_GPU_SOWN_FAULTS_PLAN_RUN_H_
