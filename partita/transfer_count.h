// What a step of a plan moves between devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_TRANSFER_COUNT_H_
#define PARTITA_PARTITA_TRANSFER_COUNT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

// Per step.
struct TransferCount {
  friend bool operator==(const TransferCount&, const TransferCount&) = default;

  int copies = 0;
  int64_t copied_bytes = 0;
  int collectives = 0;
  int64_t collective_bytes = 0;  // that the ranks give, all ranks together
};

// InvalidArgument as Expand.
absl::StatusOr<TransferCount> CountTransfers(const Entry& entry);

}  // namespace partita

#endif  // PARTITA_PARTITA_TRANSFER_COUNT_H_
