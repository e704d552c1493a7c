// The byte ranges that bring part of one piece into another.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TRANSFERS_H_
#define PARTITA_PLACEMENT_LOWER_TRANSFERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor_type.h"
#include "placement/lower/pieces.h"
#include "runtime/plan/plan.h"

namespace partita {

// Equal numbers of equal blocks on both sides.
struct RangePair {
  Range from;
  Range to;
};

// Moves the elements that `from` and `to` share, of a row-major value with
// elements of `element_bytes`. Empty if they share none. Unimplemented where it
// would take more than a thousand commands.
absl::StatusOr<std::vector<RangePair>> TransfersBetween(const Box& from,
                                                        const Box& to,
                                                        int64_t element_bytes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TRANSFERS_H_
