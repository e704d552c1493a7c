// Under AddressSanitizer: an arena of which only the bytes that running
// commands declare may be touched.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_ARENA_GUARD_H_
#define PARTITA_RUNTIME_DEVICE_ARENA_GUARD_H_

#include <map>
#include <mutex>
#include <utility>

#include "absl/types/span.h"
#include "runtime/device/blocks.h"

namespace partita {

// True in builds with AddressSanitizer; elsewhere a guard does nothing and
// executors skip it.
bool ArenaGuardsWork();

// Every byte is poisoned from construction on, except while at least one
// command that declares it is between Open and Close. The destructor lifts the
// poison, so that the memory can be given back.
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
  using Interval = std::pair<std::byte*, std::byte*>;  // begin, end
  // By the byte from which on, up to the next entry, so many commands hold the
  // arena open; before the first entry and after the last one, none.
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
