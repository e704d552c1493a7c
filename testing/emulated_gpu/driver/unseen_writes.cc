// Runs of bytes, by address.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver/unseen_writes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace partita::emulated_gpu {
namespace {

// NaN in every float type; for one seed of four another large number, where
// bytes of all ones may be the right ones.
std::byte PoisonOf(uint64_t seed) {
  return seed % 4 == 3 ? std::byte{0x7f} : std::byte{0xff};
}

std::byte* HostBytes(uint64_t address) {
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

UnseenWrites::UnseenWrites(const Timeline& timeline, uint64_t seed)
    : timeline_(timeline), poison_(PoisonOf(seed)) {}

bool UnseenWrites::Run::IsWrittenBy(CommandId command) const {
  return std::any_of(writers.begin(), writers.end(), [&](const Open& writer) {
    return writer.command == command;
  });
}

UnseenWrites::Runs::iterator UnseenWrites::FirstFrom(uint64_t address) {
  const auto after = runs_.upper_bound(address);
  if (after == runs_.begin()) return after;
  const auto before = std::prev(after);
  return address - before->first < before->second.bytes.size() ? before : after;
}

void UnseenWrites::SplitAt(uint64_t address) {
  const auto found = FirstFrom(address);
  if (found == runs_.end() || found->first >= address) return;
  Run& run = found->second;
  const auto middle =
      run.bytes.begin() + static_cast<std::ptrdiff_t>(address - found->first);
  Run tail = {{middle, run.bytes.end()}, run.writers};
  run.bytes.erase(middle, run.bytes.end());
  runs_.emplace(address, std::move(tail));
}

// What one kernel writes word by word is one run, where words are neighbours.
UnseenWrites::Runs::iterator UnseenWrites::AddRun(uint64_t address,
                                                  uint64_t end,
                                                  Runs::iterator next,
                                                  const Writer& by) {
  const uint64_t bytes =
      (next == runs_.end() ? end : std::min(end, next->first)) - address;
  std::byte* const host = HostBytes(address);
  const auto append = [&](Runs::iterator run) {
    run->second.bytes.insert(run->second.bytes.end(), host, host + bytes);
    std::memset(host, static_cast<int>(poison_), bytes);
    return run;
  };
  if (next != runs_.begin()) {
    const auto before = std::prev(next);
    const Run& run = before->second;
    if (before->first + run.bytes.size() == address &&
        run.writers.size() == 1 && run.IsWrittenBy(by.command)) {
      return append(before);
    }
  }
  return append(runs_.emplace_hint(next, address, Run{}));
}

// To know that a command is over is to know that of those before it.
void UnseenWrites::AddWriter(Run& run, const Writer& by) const {
  std::erase_if(run.writers, [&](const Open& writer) {
    return writer.command == by.command ||
           timeline_.HappensBefore(writer.command, *by.clock);
  });
  run.writers.push_back({by.command, by.device});
}

void UnseenWrites::Begin(uint64_t address, uint64_t bytes, const Writer& by) {
  const uint64_t end = address + bytes;
  SplitAt(address);
  SplitAt(end);
  auto next = runs_.lower_bound(address);
  for (uint64_t at = address; at < end;) {
    const bool is_new = next == runs_.end() || next->first > at;
    const auto run = is_new ? AddRun(at, end, next, by) : next;
    AddWriter(run->second, by);
    at = run->first + run->second.bytes.size();
    next = std::next(run);
  }
}

void UnseenWrites::Write(uint64_t address, uint64_t bytes,
                         const std::byte* from, const Writer& by) {
  auto run = FirstFrom(address);
  const bool has_begun =
      run != runs_.end() && run->first <= address &&
      address + bytes <= run->first + run->second.bytes.size() &&
      run->second.IsWrittenBy(by.command);
  if (!has_begun) {
    Begin(address, bytes, by);
    run = FirstFrom(address);
  }
  for (uint64_t i = 0; i < bytes; ++run) {
    const uint64_t offset = address + i - run->first;
    const uint64_t here =
        std::min<uint64_t>(bytes - i, run->second.bytes.size() - offset);
    std::memcpy(run->second.bytes.data() + offset, from + i, here);
    i += here;
  }
}

void UnseenWrites::Read(uint64_t address, uint64_t bytes, std::byte* to) const {
  std::memcpy(to, HostBytes(address), bytes);
  const uint64_t end = address + bytes;
  auto run = runs_.upper_bound(address);
  if (run != runs_.begin()) --run;
  for (; run != runs_.end() && run->first < end; ++run) {
    const uint64_t from = std::max(address, run->first);
    const uint64_t stop = std::min(end, run->first + run->second.bytes.size());
    if (from >= stop) continue;
    std::memcpy(to + (from - address),
                run->second.bytes.data() + (from - run->first), stop - from);
  }
}

bool UnseenWrites::IsPoison(const std::byte* host, uint64_t bytes) const {
  return std::all_of(host, host + bytes,
                     [&](std::byte byte) { return byte == poison_; });
}

std::vector<UnseenWrites::Changed> UnseenWrites::Show(
    absl::FunctionRef<bool(CommandId)> is_over) {
  std::vector<Changed> changed;
  for (auto at = runs_.begin(); at != runs_.end();) {
    Run& run = at->second;
    const CommandId last = run.writers.back().command;
    std::erase_if(run.writers,
                  [&](const Open& writer) { return is_over(writer.command); });
    if (!run.writers.empty()) {
      ++at;
      continue;
    }
    std::byte* const host = HostBytes(at->first);
    if (IsPoison(host, run.bytes.size())) {
      std::memcpy(host, run.bytes.data(), run.bytes.size());
    } else {
      changed.push_back({last, at->first});
    }
    at = runs_.erase(at);
  }
  return changed;
}

void UnseenWrites::Forget(uint64_t address, uint64_t bytes) {
  SplitAt(address);
  SplitAt(address + bytes);
  runs_.erase(runs_.lower_bound(address), runs_.lower_bound(address + bytes));
}

void UnseenWrites::Abandon(const Device* device) {
  for (auto at = runs_.begin(); at != runs_.end();) {
    std::erase_if(at->second.writers,
                  [&](const Open& writer) { return writer.device == device; });
    at = at->second.writers.empty() ? runs_.erase(at) : std::next(at);
  }
}

}  // namespace partita::emulated_gpu
