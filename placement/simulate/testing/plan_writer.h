// Plans for tests, written command by command.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_TESTING_PLAN_WRITER_H_
#define PARTITA_PLACEMENT_SIMULATE_TESTING_PLAN_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {

// For comparisons with a critical path.
std::vector<CommandId> CommandIds(std::initializer_list<int> indices);

// Kernels have node ids 0, 1, ...; there is no graph. Functions that add a
// command return its id. `machine` must outlive the writer.
class PlanWriter {
 public:
  explicit PlanWriter(const Machine& machine);

  StreamId Stream(int device);
  BufferId Buffer(int device, int64_t bytes, int64_t offset = 0);
  // Adds `capacity` slots of `bytes` in sequence on the device of the receiver.
  ChannelId Channel(StreamId sender, StreamId receiver, int capacity,
                    int64_t bytes = 1, int64_t offset = 0);

  CommandId Kernel(StreamId stream, double seconds,
                   std::vector<BufferId> reads = {},
                   std::vector<BufferId> writes = {});
  CommandId Copy(StreamId stream, BufferId from, BufferId to);
  CommandId Record(StreamId stream, int event);
  CommandId Wait(StreamId stream, int event);
  CommandId Send(StreamId stream, BufferId from, ChannelId channel);
  CommandId Recv(StreamId stream, BufferId to, ChannelId channel);
  CommandId Add(Command command);

  Entry& entry() { return plan_.entries[0]; }
  Plan& plan() { return plan_; }
  absl::StatusOr<Simulation> Run() const;

 private:
  CommandId Signal(StreamId stream, Command::Kind kind, int event);

  const Machine& machine_;
  Plan plan_;
  std::vector<double> seconds_;  // by node
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_TESTING_PLAN_WRITER_H_
