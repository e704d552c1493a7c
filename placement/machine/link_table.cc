// Stores links by the unordered pair of their devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/link_table.h"

namespace partita {

LinkTable::Ends LinkTable::InOrder(absl::string_view a, absl::string_view b) {
  return a < b ? Ends(a, b) : Ends(b, a);
}

LinkTable::LinkTable(const Machine& machine) : machine_(machine) {
  for (const Link& link : machine.links) {
    links_.emplace(InOrder(link.from, link.to), &link);
  }
}

const Link* LinkTable::Find(absl::string_view from,
                            absl::string_view to) const {
  const auto found = links_.find(InOrder(from, to));
  return found == links_.end() ? nullptr : found->second;
}

}  // namespace partita
