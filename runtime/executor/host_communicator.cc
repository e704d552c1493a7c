// Collectives through host memory, between two barriers of all ranks.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "graph/placement.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "runtime/executor/collective.h"
#include "runtime/executor/communicator.h"
#include "runtime/executor/rendezvous.h"

namespace partita {
namespace {

// Of a collective.
constexpr uint64_t kBarriers = 2;

using Bases = std::vector<std::byte*>;
using Transfers = std::vector<Transfer>;

absl::Status CopyAll(const Transfers& transfers, DeviceStream& stream) {
  for (const Transfer& transfer : transfers) {
    PARTITA_RETURN_IF_ERROR(stream.Copy(transfer.to, transfer.from));
  }
  return absl::OkStatus();
}

// Barrier 0: all operands are there. Barrier 1: no rank reads them any more,
// and all results are there. Without work there is no barrier 1.
class HostRankCollective : public RankCollective {
 public:
  HostRankCollective(Rendezvous& rendezvous, int participant,
                     uint64_t first_point, uint64_t points_per_step)
      : rendezvous_(rendezvous),
        participant_(participant),
        first_point_(first_point),
        points_per_step_(points_per_step) {}

  absl::Status Start(uint64_t step, DeviceStream& stream) override {
    PARTITA_RETURN_IF_ERROR(CopyAll(to_staging, stream));
    // Other ranks read what earlier work of the stream wrote, and write what it
    // read.
    PARTITA_RETURN_IF_ERROR(stream.Finish());
    rendezvous_.Arrive(participant_, Point(step, 0));
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Work(uint64_t step, DeviceStream& stream,
                            const WaitPolicy& policy) override {
    if (!rendezvous_.WaitForAll(Point(step, 0), policy)) return false;
    if (work.empty()) return true;
    for (const RankWork& value : work) {
      PARTITA_RETURN_IF_ERROR(RunRankWork(value, stream));
    }
    PARTITA_RETURN_IF_ERROR(stream.Finish());
    rendezvous_.Arrive(participant_, Point(step, 1));
    return true;
  }

  absl::StatusOr<bool> Finish(uint64_t step, DeviceStream& stream,
                              const WaitPolicy& policy) override {
    if (work.empty()) return true;
    if (!rendezvous_.WaitForAll(Point(step, 1), policy)) return false;
    PARTITA_RETURN_IF_ERROR(CopyAll(from_staging, stream));
    return true;
  }

  std::vector<RankWork> work;  // by value
  Transfers to_staging;        // operands, before barrier 0
  Transfers from_staging;      // reduced results, after barrier 1

 private:
  uint64_t Point(uint64_t step, int barrier) const {
    return step * points_per_step_ + first_point_ + barrier;
  }

  Rendezvous& rendezvous_;
  const int participant_;
  const uint64_t first_point_;
  const uint64_t points_per_step_;
};

class HostCommunicator : public Communicator {
 public:
  // `staging` is by participant; null if the host accesses its memory. All
  // collectives of the group use it in sequence: a rank starts the next one,
  // and so overwrites its operands, after barrier 1; others write its results
  // after its next arrival at barrier 0, when it has copied them.
  HostCommunicator(const GroupTraits& group,
                   std::vector<std::unique_ptr<Arena>> staging)
      : rendezvous_(static_cast<int>(group.participants.size())),
        points_per_step_(kBarriers * group.collectives),
        staging_(std::move(staging)) {}

  absl::StatusOr<std::unique_ptr<RankCollective>> Bind(
      const OpView& node, int number, int rank, int participant,
      absl::Span<const RankMemory> ranks) override {
    auto command = std::make_unique<HostRankCollective>(
        rendezvous_, participant, 1 + kBarriers * number, points_per_step_);
    if (ranks.empty()) return command;
    for (int value = 0; value < node.num_operands(); ++value) {
      PARTITA_RETURN_IF_ERROR(BindValue(node, value, rank, ranks, *command));
    }
    return command;
  }

  int64_t StagingBytes(int participant) const override {
    const Arena* staging = staging_[participant].get();
    return staging == nullptr ? 0 : staging->ReservedBytes();
  }

  void Interrupt() override { rendezvous_.Interrupt(); }
  void ResumeAt(uint64_t steps) override {
    rendezvous_.ArriveAll(steps * points_per_step_);
  }

 private:
  // Ranks read operands, and write reduced results, in each other's memory. A
  // rank fetches into its own.
  absl::Status BindValue(const OpView& node, int value, int rank,
                         absl::Span<const RankMemory> ranks,
                         HostRankCollective& command) const {
    const bool reduces =
        ShardingOf(node.node().placement.operands, value).kind ==
        Sharding::Kind::kPartial;
    Bases operands, results;
    for (const RankMemory& memory : ranks) {
      operands.push_back(OperandOf(memory, value));
      results.push_back(reduces ? ResultOf(memory, value)
                                : BaseOf(memory.results, value));
    }
    PARTITA_ASSIGN_OR_RETURN(
        command.work.emplace_back(),
        BindCollective(node, value, rank, operands, results));
    Stage(ranks[rank], value, operands[rank], results[rank], command);
    return absl::OkStatus();
  }

  static void Stage(const RankMemory& own, int value, std::byte* operand,
                    std::byte* result, HostRankCollective& command) {
    if (operand != BaseOf(own.operands, value)) {
      const Blocks& from = own.operands[value];
      command.to_staging.push_back({{operand, from.size()}, from});
    }
    if (result != BaseOf(own.results, value)) {
      const Blocks& to = own.results[value];
      command.from_staging.push_back({to, {result, to.size()}});
    }
  }

  static std::byte* BaseOf(const std::vector<Blocks>& blocks, int value) {
    return blocks.empty() ? nullptr : blocks[value].base;
  }

  // Where the host reads the operand.
  std::byte* OperandOf(const RankMemory& memory, int value) const {
    const Arena* staging = staging_[memory.participant].get();
    if (staging == nullptr || memory.operands.empty()) {
      return BaseOf(memory.operands, value);
    }
    return staging->base() + BytesBefore(memory.operands, value);
  }

  // Where the host writes the result: behind all operands.
  std::byte* ResultOf(const RankMemory& memory, int value) const {
    const Arena* staging = staging_[memory.participant].get();
    if (staging == nullptr || memory.results.empty()) {
      return BaseOf(memory.results, value);
    }
    return staging->base() +
           BytesBefore(memory.operands,
                       static_cast<int>(memory.operands.size())) +
           BytesBefore(memory.results, value);
  }

  static int64_t BytesBefore(const std::vector<Blocks>& blocks, int value) {
    int64_t bytes = 0;
    for (int i = 0; i < value; ++i) bytes += StagedBytes(blocks[i].size());
    return bytes;
  }

  Rendezvous rendezvous_;
  const uint64_t points_per_step_;
  const std::vector<std::unique_ptr<Arena>> staging_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> NewHostCommunicator(
    const GroupTraits& group) {
  std::vector<std::unique_ptr<Arena>> staging(group.participants.size());
  for (size_t p = 0; p < staging.size(); ++p) {
    Device& device = *group.participants[p];
    if (device.properties().host_accesses_arenas) continue;
    PARTITA_ASSIGN_OR_RETURN(staging[p], device.NewStaging(group.bytes[p]));
  }
  return std::make_unique<HostCommunicator>(group, std::move(staging));
}

}  // namespace partita
