// One member's part of a collective, between the threads of one process.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_
#define PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "runtime/device/blocks.h"
#include "runtime/device/device.h"
#include "runtime/executor/combine.h"

namespace partita {

// A side that lies with the caller has a null base.
struct Transfer {
  Blocks to;
  Blocks from;
};

// What a member does, between the two points at which all members meet:
//
//   all have started
//     join: its share of the elements, from the parts of all members, in the
//           order of members, into the results of all that take it
//     fetch: its result, from the operands of the others
//   all have ended
//
// all_reduce joins for everybody, who each have another share; reduce_scatter
// for itself; all_gather, all_to_all, broadcast and permute fetch, each member
// what it takes: the root of a broadcast has nothing to do but to wait. Nobody
// writes what another reads at the same time, in place or not, and no member
// ends before all have read and written.
struct CollectivePart {
  CombineParts combine = nullptr;       // null: nothing to join
  std::vector<const std::byte*> parts;  // operands by member
  Blocks share;                         // within an operand: base unused
  int64_t share_offset = 0;             // of its first block, in bytes
  int64_t elements = 0;                 // of one block
  std::vector<std::byte*> joined;       // each contiguous
  std::vector<Transfer> fetches;
};

// The work of member `member` for value `value` of collective node `node`,
// whose operands and results of it lie at these addresses by member; null for a
// member that gives or takes nothing.
// Unimplemented for a reduction that the dtype does not have, and for a
// resharding of values that are not row-major.
absl::StatusOr<CollectivePart> BindCollective(
    const OpView& node, int value, int member,
    const std::vector<std::byte*>& operands,
    const std::vector<std::byte*>& results);

// Does the parts of one exchange: one, or those of a bucket. `meet(point)`
// meets the others at point 0 or 1 and returns false if that wait was ended.
absl::Status RunCollective(absl::Span<const CollectivePart> parts,
                           DeviceStream& stream,
                           absl::FunctionRef<bool(int)> meet);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_COLLECTIVE_H_
