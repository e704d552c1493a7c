// Guard pages with mmap and mprotect.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/testing/guarded_buffer.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graph/round_up.h"

namespace partita {
namespace {

constexpr size_t kPage = 4096;
// Large enough that writes with a stride do not skip it.
constexpr size_t kGuard = 256 * kPage;
constexpr std::byte kPattern{0xc3};

}  // namespace

GuardedBuffer::GuardedBuffer(int64_t bytes, Side side, std::byte fill)
    : size_(bytes) {
  const size_t used = RoundUp(static_cast<size_t>(bytes), 64);
  const size_t inside = RoundUp(used, kPage);
  mapped_ = inside + 2 * kGuard;
  void* mapping = mmap(nullptr, mapped_, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED ||
      (inside > 0 && mprotect(static_cast<std::byte*>(mapping) + kGuard, inside,
                              PROT_READ | PROT_WRITE) != 0)) {
    std::perror("guarded buffer");
    std::abort();
  }
  mapping_ = static_cast<std::byte*>(mapping);
  if (inside > 0) {
    std::memset(mapping_ + kGuard, static_cast<int>(kPattern), inside);
  }
  data_ = mapping_ + kGuard + (side == Side::kAtEnd ? inside - used : 0);
  if (bytes > 0) {
    std::memset(data_, static_cast<int>(fill), static_cast<size_t>(bytes));
  }
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(other.mapping_),
      mapped_(other.mapped_),
      data_(other.data_),
      size_(other.size_) {
  other.mapping_ = nullptr;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

void GuardedBuffer::MakeReadOnly() {
  mprotect(mapping_ + kGuard, mapped_ - 2 * kGuard, PROT_READ);
}

bool GuardedBuffer::GapIntact() const {
  const std::byte* first = mapping_ + kGuard;
  const std::byte* last = mapping_ + mapped_ - kGuard;
  for (const std::byte* at = first; at < last; ++at) {
    if (at == data_) at += size_;
    if (at < last && *at != kPattern) return false;
  }
  return true;
}

}  // namespace partita
