// Vector clocks over chains.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace partita::emulated_gpu {

void VectorClock::Join(const VectorClock& other) {
  if (counts_.size() < other.counts_.size()) {
    counts_.resize(other.counts_.size());
  }
  for (size_t i = 0; i < other.counts_.size(); ++i) {
    counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
}

void VectorClock::Set(ChainId chain, uint32_t count) {
  if (counts_.size() <= chain) counts_.resize(chain + 1);
  counts_[chain] = count;
}

ChainId Timeline::AddChain(absl::string_view name) {
  chains_.push_back({std::string(name)});
  return static_cast<ChainId>(chains_.size() - 1);
}

CommandId Timeline::Add(ChainId chain, absl::string_view what,
                        VectorClock& clock) {
  const uint32_t count = ++chains_[chain].count;
  clock.Set(chain, count);
  records_.push_back({chain, count, &*names_.insert(std::string(what)).first});
  return static_cast<CommandId>(records_.size());
}

std::string Timeline::Describe(CommandId command) const {
  const Record& record = records_[command - 1];
  return absl::StrCat(*record.what, " (command ", record.count, " of ",
                      chains_[record.chain].name, ")");
}

}  // namespace partita::emulated_gpu
