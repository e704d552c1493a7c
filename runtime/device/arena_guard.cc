// Poisons and unpoisons the bytes of an arena.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/arena_guard.h"

#include <iterator>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) \
  ((void)(address), (void)(size))
#endif

namespace partita {

bool ArenaGuardsWork() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

ArenaGuard::ArenaGuard(std::byte* base, int64_t size)
    : base_(base), size_(size) {
  ASAN_POISON_MEMORY_REGION(base_, size_);
}

ArenaGuard::~ArenaGuard() { ASAN_UNPOISON_MEMORY_REGION(base_, size_); }

void ArenaGuard::Open(absl::Span<const Blocks> declared) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Blocks& blocks : declared) {
    for (int64_t i = 0; i < blocks.count; ++i) {
      std::byte* begin = blocks.base + i * blocks.stride;
      OpenInterval({begin, begin + blocks.block});
    }
  }
}

void ArenaGuard::Close(absl::Span<const Blocks> declared) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Blocks& blocks : declared) {
    for (int64_t i = 0; i < blocks.count; ++i) {
      std::byte* begin = blocks.base + i * blocks.stride;
      CloseInterval({begin, begin + blocks.block});
    }
  }
}

// The entry of this byte; created if there is none.
ArenaGuard::Holders::iterator ArenaGuard::EntryAt(std::byte* at) {
  const auto next = holders_.upper_bound(at);
  if (next == holders_.begin()) return holders_.emplace_hint(next, at, 0);
  const auto before = std::prev(next);
  if (before->first == at) return before;
  return holders_.emplace_hint(next, at, before->second);
}

void ArenaGuard::OpenInterval(Interval interval) {
  if (interval.first == interval.second) return;
  const auto first = EntryAt(interval.first);
  const auto last = EntryAt(interval.second);
  for (auto entry = first; entry != last; ++entry) ++entry->second;
  DropEqual(first, std::next(last));
  ASAN_UNPOISON_MEMORY_REGION(interval.first, interval.second - interval.first);
}

// Poisons bytes that no other command holds open, and never a byte that one
// does: it may be reading the byte now.
void ArenaGuard::CloseInterval(Interval interval) {
  if (interval.first == interval.second) return;
  const auto first = EntryAt(interval.first);
  const auto last = EntryAt(interval.second);
  for (auto entry = first; entry != last; ++entry) --entry->second;
  PoisonFree(first, last);
  DropEqual(first, std::next(last));
}

// Poisons adjacent intervals together: poison ends only at multiples of 8
// bytes, unless the following bytes are poisoned too.
void ArenaGuard::PoisonFree(Holders::iterator first, Holders::iterator last) {
  while (first != last) {
    auto end = first;
    while (end != last && end->second == 0) ++end;
    if (end != first) {
      ASAN_POISON_MEMORY_REGION(first->first, end->first - first->first);
    }
    first = end == last ? last : std::next(end);
  }
}

// Removes entries with the same count as the entry before, so that the map
// stays small.
void ArenaGuard::DropEqual(Holders::iterator first, Holders::iterator last) {
  while (first != last) {
    const int before = first == holders_.begin() ? 0 : std::prev(first)->second;
    first = first->second == before ? holders_.erase(first) : std::next(first);
  }
}

}  // namespace partita
