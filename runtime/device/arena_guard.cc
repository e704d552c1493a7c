// Poisons and unpoisons the bytes of an arena.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/arena_guard.h"

#include <algorithm>

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

void ArenaGuard::OpenInterval(Interval interval) {
  if (interval.first == interval.second) return;
  ++open_[interval];
  ASAN_UNPOISON_MEMORY_REGION(interval.first, interval.second - interval.first);
}

// Poisons what no other open interval covers, and never a byte that one does:
// its command may be reading it at this moment.
void ArenaGuard::CloseInterval(Interval interval) {
  const auto found = open_.find(interval);
  if (found == open_.end() || --found->second > 0) return;
  open_.erase(found);
  std::byte* begin = interval.first;
  for (const auto& [other, holders] : open_) {
    if (other.second <= begin) continue;
    if (other.first >= interval.second) break;
    if (other.first > begin) {
      ASAN_POISON_MEMORY_REGION(begin, other.first - begin);
    }
    begin = std::max(begin, other.second);
  }
  if (begin < interval.second) {
    ASAN_POISON_MEMORY_REGION(begin, interval.second - begin);
  }
}

}  // namespace partita
