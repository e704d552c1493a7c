// Memory, copies, and what was not given back.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/sown_faults/call_account.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace partita {

std::vector<std::string> CallAccount::Kept() const {
  std::map<std::string, int> counts;
  for (const auto& [kind, key] : kept_) ++counts[kind];
  for (const auto& [device, count] : retained_) {
    if (count > 0) counts["contexts"] += count;
  }
  std::vector<std::string> kept;
  for (const auto& [kind, count] : counts) {
    kept.push_back(absl::StrCat(count, " ", kind, " not given back"));
  }
  return kept;
}

void CallAccount::NoteBlock(const char* kind, uintptr_t address, size_t bytes) {
  kept_.insert({kind, address});
  blocks_[address] = bytes;
}
void CallAccount::NoteFree(const char* kind, uintptr_t address) {
  kept_.erase({kind, address});
  blocks_.erase(address);
  work_.Free();
}

// Pageable memory is read when the call returns, and may be written by then
// (CUDA driver API, "API synchronization behavior").

void CallAccount::NoteCopy(CUstream stream, uintptr_t to, uintptr_t from) {
  streams.Add(KeyOf(stream));
  if (IsPageable(from)) {
    work_.AddStagedCopy(KeyOf(stream), "a copy");
  } else {
    work_.AddWork(KeyOf(stream), "a copy");
  }
  if (fetches_wait_ && IsPageable(to)) {
    work_.HostWaitsForStream(KeyOf(stream));
  }
}

bool CallAccount::IsPageable(uintptr_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return true;
  const auto& [start, bytes] = *std::prev(after);
  return address - start >= bytes;
}

}  // namespace partita
