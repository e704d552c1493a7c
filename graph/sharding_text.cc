// One word for each kind.
// SPDX-License-Identifier: Apache-2.0

#include "graph/sharding_text.h"

#include "absl/strings/str_cat.h"

namespace partita {

std::string ShardingText(const Sharding& sharding) {
  switch (sharding.kind) {
    case Sharding::Kind::kSplit:
      return sharding.unit == 1
                 ? absl::StrCat("split ", sharding.dim)
                 : absl::StrCat("split ", sharding.dim, " by ", sharding.unit);
    case Sharding::Kind::kPartial:
      return absl::StrCat("partial ", ReductionName(sharding.reduction));
    case Sharding::Kind::kReplicated:
      break;
  }
  return "replicated";
}

}  // namespace partita
