// Binds the kernels of one stream to its device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_STREAM_KERNELS_H_
#define PARTITA_RUNTIME_EXECUTOR_STREAM_KERNELS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/entry_state.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/executor/stream_program.h"

namespace partita {

// Owns what bound commands refer to. Thread safety: used only by the thread
// that launches the kernels.
class StreamKernels {
 public:
  StreamKernels(const EntryState& state, StreamId stream, Device& device)
      : state_(state), id_(stream), device_(device) {}

  // The kernels by command of the stream; empty for commands without a kernel,
  // and on devices that compute nothing. Called once.
  absl::StatusOr<std::vector<BoundCommand>> BindAll();

  // Replacements among the bound commands.
  const std::vector<ReplacedKernel>& replaced() const { return replaced_; }

 private:
  absl::StatusOr<BoundCommand> Bind(const Command& command);
  // The node that the command computes, or its shard on one rank.
  absl::StatusOr<OpView> NodeOf(const Command& command);
  absl::StatusOr<void*> OutsideScratch(int64_t bytes);

  const EntryState& state_;
  const StreamId id_;
  Device& device_;
  std::vector<std::unique_ptr<Graph>> shards_;  // of sharded nodes
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Arena>> scratch_;
  std::vector<ReplacedKernel> replaced_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_STREAM_KERNELS_H_
