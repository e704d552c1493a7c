// The byte ranges that copy the common elements of two shards.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TRANSFERS_H_
#define PARTITA_PLACEMENT_LOWER_TRANSFERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor_type.h"
#include "placement/lower/shards.h"
#include "runtime/plan/plan.h"

namespace partita {

// Two ranges with the same number of blocks of the same size.
struct RangePair {
  Range from;
  Range to;
};

// The ranges that copy the elements that `from` and `to` share, of a row-major
// value with elements of `element_bytes`. Empty if they share none.
// Unimplemented if that takes more than 1024 ranges.
absl::StatusOr<std::vector<RangePair>> TransfersBetween(const Box& from,
                                                        const Box& to,
                                                        int64_t element_bytes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TRANSFERS_H_
