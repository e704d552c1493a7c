// Joins devices and shardings.
// SPDX-License-Identifier: Apache-2.0

#include "partita/placement_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/sharding_text.h"

namespace partita {

std::string PlacementText(const Placement& placement) {
  std::string text = absl::StrJoin(placement.devices, ",");
  if (placement.devices.size() < 2) return text;
  std::vector<std::string> shardings;
  for (const Sharding& sharding : placement.results) {
    shardings.push_back(ShardingText(sharding));
  }
  if (shardings.empty()) shardings.push_back(ShardingText(Sharding()));
  return absl::StrCat(text, " (", absl::StrJoin(shardings, ", "), ")");
}

}  // namespace partita
