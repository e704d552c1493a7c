// Plans for tests, written command by command.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_PLAN_WRITER_H_
#define PARTITA_PLACEMENT_SIMULATE_PLAN_WRITER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/machine/machine.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/plan.h"

namespace partita {

// Kernels have node ids 0, 1, ...; there is no graph. Functions that add a
// command return its index. `machine` must outlive the writer.
class PlanWriter {
 public:
  explicit PlanWriter(const Machine& machine);

  StreamId Stream(int device);
  BufferId Buffer(int device, int64_t bytes, int64_t offset = 0);
  // Adds `capacity` slots of `bytes` in sequence on the device of the receiver.
  ChannelId Channel(StreamId sender, StreamId receiver, int capacity,
                    int64_t bytes = 1, int64_t offset = 0);

  int Kernel(StreamId stream, double seconds, std::vector<BufferId> reads = {},
             std::vector<BufferId> writes = {});
  int Copy(StreamId stream, BufferId from, BufferId to);
  int Record(StreamId stream, int event);
  int Wait(StreamId stream, int event);
  int Send(StreamId stream, BufferId from, ChannelId channel);
  int Recv(StreamId stream, BufferId to, ChannelId channel);
  int Add(Command command);

  Entry& entry() { return plan_.entries[0]; }
  Plan& plan() { return plan_; }
  absl::StatusOr<Simulation> Run() const;

 private:
  int Signal(StreamId stream, Command::Kind kind, int event);

  const Machine& machine_;
  Plan plan_;
  std::vector<double> seconds_;  // by node
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_PLAN_WRITER_H_
