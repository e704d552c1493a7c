// Collectives of a link as JSON: in machine files and in profiles.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_JSON_H_
#define PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "placement/machine/link_collectives.h"
#include "placement/machine/strict_json.h"

namespace partita {

// The keys `gather` and `reduce` of a link, each an object of `bandwidth` and
// `latency`; both may be missing.
absl::StatusOr<LinkCollectives> ReadLinkCollectives(const JsonObject& link);

// `, "gather": {...}, "reduce": {...}`: the keys that ReadLinkCollectives
// reads; empty without figures.
std::string LinkCollectivesJson(const LinkCollectives& collectives);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_LINK_COLLECTIVES_JSON_H_
