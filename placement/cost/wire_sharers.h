// How many transfers share the bandwidth of each link and bus.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_WIRE_SHARERS_H_
#define PARTITA_PLACEMENT_COST_WIRE_SHARERS_H_

#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "placement/machine/machine.h"

namespace partita {

// A transfer over a link.
struct Hop {
  const Link* link = nullptr;
  bool forward = true;  // along the link, from `from` to `to`
};

// Counts the transfers of each wire: a bus with all its links, or a link
// without a bus. Transfers over duplex links share with those of the same
// direction and with those over other links; the others share with all.
// Thread safety: const calls may run in parallel.
class WireSharers {
 public:
  void Add(const Hop& hop) { Change(hop, 1); }
  // Needs: it was added.
  void Remove(const Hop& hop) { Change(hop, -1); }
  // The transfers that share with one that was added, itself included.
  int With(const Hop& hop) const;

 private:
  // The bus and no link, or no bus and the link.
  using Wire = std::pair<absl::string_view, const Link*>;
  struct Counts {
    std::array<int, 2> one_way = {0, 0};  // over duplex links, by direction
    int either_way = 0;                   // over other links
  };

  static Wire WireOf(const Link& link);
  void Change(const Hop& hop, int by);

  absl::flat_hash_map<Wire, Counts> counts_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_WIRE_SHARERS_H_
