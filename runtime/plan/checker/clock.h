// Sparse vector clocks over streams: which commands are known to have ended.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace partita {

// For each stream that something is known of, how many of its commands have
// ended. Streams end commands in order, so a count says which. Clocks are
// shared until they change, as most commands know what their predecessor knew.
class Clock {
 public:
  // Commands of `stream` that are known to have ended.
  int64_t Ended(int32_t stream) const;
  // The first `count` commands of `stream` have ended.
  void Advance(int32_t stream, int64_t count);
  // Knows all that `other` knows.
  void Join(const Clock& other);
  // Streams of which something is known.
  int64_t size() const {
    return entries_ == nullptr ? 0 : static_cast<int64_t>(entries_->size());
  }

 private:
  using Entries = std::vector<std::pair<int32_t, int64_t>>;  // by stream
  Entries& Mutable();
  std::shared_ptr<Entries> entries_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
