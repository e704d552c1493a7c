// A list of streams and its index.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/stream_table.h"

namespace partita {

StreamId StreamTable::Of(const StreamKey& key) {
  const auto [it, is_new] = ids_.try_emplace(key);
  if (is_new) it->second = keys_.Add(key);
  return it->second;
}

}  // namespace partita
