// Runs a plan in launch order with the ops' eval: a reference for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_
#define PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/host_tensor.h"
#include "runtime/plan/plan.h"

namespace partita {

// Executes a plan one command at a time. Keeps the arenas between steps. Does
// not reduce across ranks: all_reduce and reduce_scatter do nothing. Not
// thread-safe.
class SerialMachine {
 public:
  // Writes the initial values of persistent ranges. `plan` must outlive the
  // machine.
  explicit SerialMachine(const Plan& plan);

  // Runs one step of an entry and returns the outputs. Bytes that do not
  // persist are junk at its start. Internal if an output is not fetched exactly
  // once.
  absl::StatusOr<std::vector<HostTensor>> Step(
      int entry, absl::Span<const HostTensor> inputs);

 private:
  std::vector<std::byte> Read(const Entry& entry, BufferId id) const;
  void Write(const Entry& entry, BufferId id, const std::byte* bytes);
  void Fill(const Entry& entry, BufferId id);
  absl::Status Kernel(const Entry& entry, const Command& command);
  void RunCollective(const Entry& entry, const Command& command,
                     absl::Span<const Command> commands);
  static std::vector<const Command*> CommandsByRank(
      const Command& command, absl::Span<const Command> commands);
  void MoveShard(const Entry& entry, const Command& command,
                 absl::Span<const Command* const> by_rank);
  void Reshard(const Entry& entry, const Command& command,
               absl::Span<const Command* const> by_rank, int value);

  const Plan& plan_;
  std::vector<std::vector<std::byte>> arenas_;
  int64_t step_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_
