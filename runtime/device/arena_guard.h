// With AddressSanitizer: an arena in which only the bytes that running commands
// declare may be accessed.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_ARENA_GUARD_H_
#define PARTITA_RUNTIME_DEVICE_ARENA_GUARD_H_

#include <map>
#include <mutex>
#include <utility>

#include "absl/types/span.h"
#include "runtime/device/blocks.h"

namespace partita {

// True in builds with AddressSanitizer. In other builds guards do nothing and
// executors skip them.
bool ArenaGuardsWork();

// All bytes are poisoned, except bytes that a command declares while it is
// between Open and Close. The destructor removes the poison, so that the memory
// can be freed.
//
// Thread safety: all calls may run in parallel.
class ArenaGuard {
 public:
  ArenaGuard(std::byte* base, int64_t size);
  ~ArenaGuard();
  ArenaGuard(const ArenaGuard&) = delete;
  ArenaGuard& operator=(const ArenaGuard&) = delete;

  void Open(absl::Span<const Blocks> declared);
  void Close(absl::Span<const Blocks> declared);

 private:
  using Interval = std::pair<std::byte*, std::byte*>;  // [begin, end)
  // The key is an address; the value is the number of commands that hold the
  // arena open from there to the next key. Outside the keys it is zero.
  using Holders = std::map<std::byte*, int>;
  void OpenInterval(Interval interval);
  void CloseInterval(Interval interval);
  Holders::iterator EntryAt(std::byte* at);
  void PoisonFree(Holders::iterator first, Holders::iterator last);
  void DropEqual(Holders::iterator first, Holders::iterator last);

  std::byte* base_;
  int64_t size_;
  std::mutex mutex_;
  Holders holders_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_ARENA_GUARD_H_
