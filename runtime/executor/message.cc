// Two arrivals a message.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/message.h"

#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int kSender = 0;
constexpr int kReceiver = 1;

class Sender : public RankCollective {
 public:
  Sender(Rendezvous& rendezvous, const MessagePoint& point)
      : rendezvous_(rendezvous), point_(point) {}

  absl::Status Start(uint64_t step, DeviceStream& stream) override {
    PARTITA_RETURN_IF_ERROR(stream.Finish());
    rendezvous_.Arrive(kSender, point_.Of(step));
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Work(uint64_t step, DeviceStream& stream,
                            const WaitPolicy& policy) override {
    return true;
  }
  absl::StatusOr<bool> Finish(uint64_t step, DeviceStream& stream,
                              const WaitPolicy& policy) override {
    return rendezvous_.Wait(kReceiver, point_.Of(step), policy);
  }

 private:
  Rendezvous& rendezvous_;
  const MessagePoint point_;
};

class Receiver : public RankCollective {
 public:
  Receiver(Rendezvous& rendezvous, const MessagePoint& point,
           const std::optional<Transfer>& transfer)
      : rendezvous_(rendezvous), point_(point), transfer_(transfer) {}

  absl::Status Start(uint64_t step, DeviceStream& stream) override {
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Work(uint64_t step, DeviceStream& stream,
                            const WaitPolicy& policy) override {
    if (!rendezvous_.Wait(kSender, point_.Of(step), policy)) return false;
    if (transfer_.has_value()) {
      PARTITA_RETURN_IF_ERROR(stream.Copy(transfer_->to, transfer_->from));
    }
    PARTITA_RETURN_IF_ERROR(stream.Finish());
    rendezvous_.Arrive(kReceiver, point_.Of(step));
    return true;
  }
  absl::StatusOr<bool> Finish(uint64_t step, DeviceStream& stream,
                              const WaitPolicy& policy) override {
    return true;
  }

 private:
  Rendezvous& rendezvous_;
  const MessagePoint point_;
  const std::optional<Transfer> transfer_;
};

}  // namespace

std::unique_ptr<RankCollective> NewSender(Rendezvous& rendezvous,
                                          const MessagePoint& point) {
  return std::make_unique<Sender>(rendezvous, point);
}

std::unique_ptr<RankCollective> NewReceiver(
    Rendezvous& rendezvous, const MessagePoint& point,
    const std::optional<Transfer>& transfer) {
  return std::make_unique<Receiver>(rendezvous, point, transfer);
}

}  // namespace partita
