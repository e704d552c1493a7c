// The time of a collective from the arrival of its last rank.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_COLLECTIVE_COST_H_
#define PARTITA_PLACEMENT_COST_COLLECTIVE_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "placement/machine/link_table.h"
#include "runtime/plan/collective.h"

namespace partita {

// All estimates ignore other transfers at the same time. FailedPrecondition if
// there is no link between two devices that send each other bytes.

// Seconds over `ranks`, in ring order. Each rank supplies `bytes`. Where every
// link of the ring states figures of such collectives (link_collectives.h), the
// longest of their latencies, and the bytes that a rank sends in a ring over
// the least of their bandwidths: ranks of one host wait for each other a fixed
// number of times, and copy through its memory. Else CollectiveTransferSeconds.
absl::StatusOr<double> CollectiveSeconds(CollectiveKind kind, double bytes,
                                         const std::vector<std::string>& ranks,
                                         const LinkTable& links);

// The same by the figures of the links' copies, which compares a collective
// with copies: neither price has the time that ranks and streams wait for each
// other. The better of
//   * a ring, each rank sending to the next at the same time (Patarasuk and
//     Yuan 2009): all_reduce does 2 (d - 1) steps of bytes / d, reduce_scatter
//     d - 1 of them, all_gather d - 1 steps of bytes, all_to_all d - 1 of
//     bytes / d; hops that share a link or a bus share its bandwidth;
//   * for all_reduce, a binomial tree up and down (Thakur et al. 2005), where
//     its pairs have links: 2 ceil(log2 d) steps of all bytes, each as long as
//     the slowest of its transfers, which share links and buses likewise.
absl::StatusOr<double> CollectiveTransferSeconds(
    CollectiveKind kind, double bytes, const std::vector<std::string>& ranks,
    const LinkTable& links);

// Seconds until all of `chain` have the `bytes` of its first rank. The better
// of
//   * the chain, pipelined in chunks: p chunks over h hops are h + p - 1 steps
//     of bytes / p, for the best p;
//   * a binomial tree: ceil(log2 d) steps of all bytes.
absl::StatusOr<double> BroadcastSeconds(double bytes,
                                        const std::vector<std::string>& chain,
                                        const LinkTable& links);

// From one device to another.
struct Route {
  std::string from;
  std::string to;
};

// Seconds of `bytes` over each route at the same time, as in copies and a
// permute. Routes that share a link or a bus share its bandwidth.
absl::StatusOr<double> TransferSeconds(double bytes,
                                       const std::vector<Route>& routes,
                                       const LinkTable& links);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_COLLECTIVE_COST_H_
