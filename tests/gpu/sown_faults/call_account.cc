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
  if (is_given_back_twice_) kept.push_back("one given back twice");
  if (is_used_later_) kept.push_back("one used after it was given back");
  return kept;
}

void CallAccount::NoteBlock(const char* kind, const IssuedWork::Block& block) {
  kept_.insert({kind, block.address});
  blocks_[block.address] = block;
}

void CallAccount::NoteFree(const char* kind, uintptr_t address) {
  kept_.erase({kind, address});
  work_.Free(blocks_[address]);
  blocks_.erase(address);
}

uintptr_t CallAccount::OtherStream(CUstream stream) const {
  const auto found = streams_of_.find(stream);
  if (found == streams_of_.end()) return 0;
  // Handles are addresses, which differ from run to run.
  uintptr_t oldest = 0;
  int64_t number = streams_made_;
  for (const auto& [other, made] : streams_of_) {
    if (other == stream || made.context != found->second.context) continue;
    if (made.number >= number) continue;
    oldest = KeyOf(other);
    number = made.number;
  }
  return oldest;
}

uintptr_t CallAccount::PinnedBlock(size_t bytes) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const IssuedWork::Block& candidate = block->second;
    if (candidate.context == 0 && candidate.bytes >= bytes) {
      return candidate.address;
    }
  }
  return 0;
}

// Nothing of a device's memory is mapped for the host.
bool CallAccount::MayAccess(uintptr_t address, size_t bytes) const {
  const IssuedWork::Block* const block = BlockAt(address);
  if (block == nullptr) return false;
  return block->context != 0 ||
         address - block->address + bytes <= block->bytes;
}

IssuedWork::Issued CallAccount::CopyOf(uintptr_t to, uintptr_t from,
                                       size_t bytes) const {
  const auto context_of = [&](uintptr_t address) {
    const IssuedWork::Block* const block = BlockAt(address);
    return block == nullptr ? 0 : block->context;
  };
  return {.what = kCopyWork,
          .copied = IssuedWork::Copied{.to = to,
                                       .from = from,
                                       .bytes = bytes,
                                       .to_context = context_of(to),
                                       .from_context = context_of(from)}};
}

// Memory without a block is pageable: it is read when the call returns, and may
// be written by then (CUDA driver API, "API synchronization behavior").
void CallAccount::NoteCopy(CUstream stream, uintptr_t to, uintptr_t from,
                           size_t bytes) {
  streams.Add(KeyOf(stream));
  copied_from.Add(from);
  if (BlockAt(from) == nullptr) {
    work_.AddStagedCopy(KeyOf(stream), CopyOf(to, from, bytes));
  } else {
    work_.AddWork(KeyOf(stream), CopyOf(to, from, bytes));
  }
  if (fetches_wait_ && BlockAt(to) == nullptr) {
    work_.HostWaitsForStream(KeyOf(stream));
  }
}

const IssuedWork::Block* CallAccount::BlockAt(uintptr_t address) const {
  const auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const auto& [start, block] = *std::prev(after);
  return address - start < block.bytes ? &block : nullptr;
}

}  // namespace partita
