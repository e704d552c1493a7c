// What the emulated driver reports of a program, beside the codes that it
// returns.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_EMULATED_GPU_DRIVER_FINDING_H_
#define PARTITA_TESTING_EMULATED_GPU_DRIVER_FINDING_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace partita::emulated_gpu {

enum class FindingKind {
  kRace,             // two accesses of the same bytes that nothing orders
  kUndefined,        // bytes are read that nobody wrote
  kBounds,           // an access outside every allocation, or of a freed one
  kForeignMemory,    // memory of a device without access to it, of the host
  kUnrecordedWait,   // a wait for an event that was never recorded
  kCapture,          // a call against the rules of a capture
  kLeak,             // what nobody gave back
  kHostDereference,  // a device address where the host's is expected
  kWrongContext,     // handles of two contexts in one call
  kDeadlock,         // work that never ends
  kMisuse,           // a handle after its end, a pointer to nothing
  kNotEmulated,      // a call or a text that is not emulated
};

// "race", "undefined bytes", ...
absl::string_view NameOf(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::kRace;
  std::string text;  // one sentence: who, what, where
};

// "race: kernel add ..."
std::string TextOf(const Finding& finding);

// Each text once, in the order of their coming.
class FindingLog {
 public:
  void Add(FindingKind kind, std::string text);
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::vector<Finding> all_;
  absl::flat_hash_set<std::string> texts_;
};

}  // namespace partita::emulated_gpu

#endif  // PARTITA_TESTING_EMULATED_GPU_DRIVER_FINDING_H_
