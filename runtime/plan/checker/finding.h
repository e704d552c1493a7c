// Findings of the checker, as data and as text for people.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_FINDING_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_FINDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.h"

namespace partita {

// Every rule that a plan can break. Tests can disable each rule, and must then
// fail.
enum class Rule : uint8_t {
  // Form.
  kShape,         // ids, counts, kinds
  kRange,         // a buffer inside its part of the arena, in order, aligned
  kDevice,        // a command accesses bytes of its own device
  kSize,          // buffers have the size of the types that they hold
  kRecordedOnce,  // every awaited event has one record
  kGroupOrder,    // ranks of a group issue the same collectives
  kMessagePairs,  // sends and receives of a channel pair up
  kNames,         // entries and ports have the names of functions and values
  kSharding,      // nodes are sharded as their ops allow
  kSlots,         // message slots belong to one channel only
  kPersistent,    // persistent ranges: contents, and no overlap
  // Progress.
  kEventForward,    // the record before the wait
  kMessageForward,  // the send before its receive
  kCapacity,        // receive k before send k + capacity
  kTogether,        // commands of one node are adjacent in launch order
  // No race.
  kWriteAfterWrite,
  kReadAfterWrite,
  kWriteAfterRead,
  kInsideCommand,  // results and workspace overlap nothing else it accesses
  // Value.
  kUndefined,   // a read of bytes that nothing has defined
  kWrongValue,  // a read of bytes of another value
  kOutputs,     // every output byte fetched exactly once
  kNextStep,    // persistent ranges at the end of the step
  // Memory.
  kMemory,
};
inline constexpr int kNumRules = static_cast<int>(Rule::kMemory) + 1;
absl::string_view RuleName(Rule rule);

// Bytes of one arena, by absolute offset.
struct ByteSpan {
  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
  int64_t begin = 0;
  int64_t end = 0;
};

struct Finding {
  Rule rule = Rule::kShape;
  int entry = -1;     // index into Plan::entries; -1: the whole plan
  CommandId command;  // invalid: none
  CommandId other;    // the earlier command of a pair; invalid: none
  DeviceId device;
  ByteSpan bytes;
  std::string message;  // starts with "plan @name: "
};

// Disables rules, for the tests that show that each rule is needed.
struct CheckOptions {
  bool checks(Rule rule) const {
    return (disabled >> static_cast<int>(rule) & 1) == 0;
  }
  uint32_t disabled = 0;  // bit r: rule r
};

// Collects findings up to a bound, so that a plan with a million faults costs
// no more than a plan with a hundred.
class Findings {
 public:
  explicit Findings(CheckOptions options = {}) : options_(options) {}

  void Add(Finding finding);
  // False also after a finding of a disabled rule: later checks must not run on
  // a state that they do not expect.
  bool empty() const { return !any_; }
  bool full() const { return list_.size() >= kMaxFindings; }
  const std::vector<Finding>& list() const { return list_; }
  std::vector<Finding> Take() { return std::move(list_); }

 private:
  static constexpr size_t kMaxFindings = 100;
  CheckOptions options_;
  std::vector<Finding> list_;
  bool any_ = false;
};

// The first 20 findings, one a line; OK if there are none.
absl::Status ToStatus(const std::vector<Finding>& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_FINDING_H_
