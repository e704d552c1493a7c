// Replaces operator new and delete for the whole program.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/memory_meter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PARTITA_OTHER_NEW
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARTITA_OTHER_NEW
#endif

namespace partita {
namespace {

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};
int64_t bytes_at_begin = 0;

#ifndef PARTITA_OTHER_NEW

void* Counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const auto size = static_cast<int64_t>(malloc_usable_size(memory));
  const int64_t live = live_bytes.fetch_add(size) + size;
  int64_t peak = peak_bytes.load();
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return memory;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  live_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

#endif

}  // namespace

void BeginMeter() {
  bytes_at_begin = live_bytes.load();
  peak_bytes.store(bytes_at_begin);
}

int64_t PeakBytes() { return peak_bytes.load() - bytes_at_begin; }

}  // namespace partita

#ifndef PARTITA_OTHER_NEW

// The array and nothrow forms call these.
void* operator new(std::size_t size) {
  return partita::Counted(std::malloc(size == 0 ? 1 : size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  // LLVM asks for less than the least that posix_memalign takes.
  const std::size_t least =
      std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  const int failed = posix_memalign(&memory, least, size);
  return partita::Counted(failed ? nullptr : memory);
}
void operator delete(void* memory) noexcept { partita::Free(memory); }
void operator delete(void* memory, std::size_t) noexcept {
  partita::Free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  partita::Free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  partita::Free(memory);
}

#endif
