// Which link joins two devices of a machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_
#define PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "placement/machine/machine.h"

namespace partita {

// Finds links by the names of their devices. A machine that is asked once may
// stand for its table.
class LinkTable {
 public:
  // `machine` must outlive the table, and keep its links as they are.
  LinkTable(const Machine& machine);  // NOLINT(google-explicit-constructor)

  // The link that carries bytes from one device to the other, either way round;
  // null if there is none.
  const Link* Find(absl::string_view from, absl::string_view to) const;
  const Machine& machine() const { return machine_; }

 private:
  using Ends = std::pair<absl::string_view, absl::string_view>;
  static Ends InOrder(absl::string_view a, absl::string_view b);

  const Machine& machine_;
  absl::flat_hash_map<Ends, const Link*> links_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_
