// Runs a plan in launch order, one command at a time, by the ops' eval: the
// simplest thing that a plan could mean. For tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_
#define PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/host_tensor.h"
#include "runtime/plan/plan.h"

namespace partita {

// The arenas of a plan, kept between steps.
class SerialMachine {
 public:
  // Fills persistent ranges with what they hold at first.
  explicit SerialMachine(const Plan& plan);

  // One step of an entry: the outputs. Bytes that do not persist are junk at
  // its start. Internal if an output is not fetched exactly once.
  absl::StatusOr<std::vector<HostTensor>> Step(
      int entry, absl::Span<const HostTensor> inputs);

 private:
  std::vector<std::byte> Read(const Entry& entry, BufferId id) const;
  void Write(const Entry& entry, BufferId id, const std::byte* bytes);
  void Fill(const Entry& entry, BufferId id);
  absl::Status Kernel(const Entry& entry, const Command& command);
  void Take(const Entry& entry, const Command& part,
            absl::Span<const Command> commands);
  static std::vector<const Command*> PartsOf(
      const Command& part, absl::Span<const Command> commands);
  void TakeMoved(const Entry& entry, const Command& part,
                 absl::Span<const Command* const> parts);
  void TakeDivided(const Entry& entry, const Command& part,
                   absl::Span<const Command* const> parts, int value);

  const Plan& plan_;
  std::vector<std::vector<std::byte>> arenas_;
  int64_t step_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_RUN_SERIALLY_H_
