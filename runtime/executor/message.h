// Messages of channels without slots: sender and receiver wait for each other.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_MESSAGE_H_
#define PARTITA_RUNTIME_EXECUTOR_MESSAGE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/executor/collective.h"
#include "runtime/executor/communicator.h"
#include "runtime/executor/rendezvous.h"

namespace partita {

// The place of a message among those of its channel.
struct MessagePoint {
  uint64_t Of(uint64_t step) const { return step * per_step + number + 1; }

  uint64_t per_step = 0;
  uint64_t number = 0;  // of the step
};

// The ends of one message. The receiver copies the bytes, unless there are
// none, when the sender has started; the sender finishes when it has. Rank 0 of
// the rendezvous, which outlives them, is the sender.
std::unique_ptr<RankCollective> NewSender(Rendezvous& rendezvous,
                                          const MessagePoint& point);
std::unique_ptr<RankCollective> NewReceiver(
    Rendezvous& rendezvous, const MessagePoint& point,
    const std::optional<Transfer>& transfer);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_MESSAGE_H_
