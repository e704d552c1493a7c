// Says what there is in place of what was not found.
// SPDX-License-Identifier: Apache-2.0

#include "partita/port_lookup.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text/names.h"

namespace partita {

absl::StatusOr<size_t> FindPort(const std::vector<Port>& ports,
                                absl::string_view name,
                                absl::string_view kind) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
  }
  const std::string known = absl::StrJoin(
      ports, ", ",
      [](std::string* out, const Port& port) { out->append(port.name); });
  return absl::NotFoundError(absl::StrCat(
      kind, " ", NameText(name), ": found no such ", kind, "; expected ",
      ports.empty() ? "none" : absl::StrCat("one of ", known)));
}

absl::Status CheckIndex(int64_t index, size_t size, absl::string_view kind) {
  if (index >= 0 && index < static_cast<int64_t>(size)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("session: found ", kind, " ", index, "; expected ",
                   size == 0 ? "none" : absl::StrCat("an index below ", size)));
}

}  // namespace partita
