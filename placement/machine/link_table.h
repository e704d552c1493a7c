// The link between two devices of a machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_
#define PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "placement/machine/machine.h"

namespace partita {

// Finds links by the names of their devices. Converts implicitly from a
// machine, for a single look-up.
class LinkTable {
 public:
  // A link has one direction in a file, and carries both.
  using Ends = std::pair<absl::string_view, absl::string_view>;
  static Ends InOrder(absl::string_view a, absl::string_view b);

  // `machine` must outlive the table, and its links must not change.
  LinkTable(const Machine& machine);  // NOLINT(google-explicit-constructor)

  // The link between the two devices, in either direction; null if none.
  const Link* Find(absl::string_view from, absl::string_view to) const;
  const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
  absl::flat_hash_map<Ends, const Link*> links_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_LINK_TABLE_H_
