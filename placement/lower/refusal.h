// Errors for a graph that does not fit: the device, and what fills it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_REFUSAL_H_
#define PARTITA_PLACEMENT_LOWER_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace partita {

// One tensor that fills the device: "%w1", 1.6 GiB, "constant".
struct RefusalHolder {
  std::string name;
  int64_t bytes = 0;
  std::string kind;  // constant, variable, input, activation, workspace
};

struct Refusal {
  std::string where;  // "placement @mlp"
  std::string device;
  std::string at;      // "matmul %h", "input %x"; may be empty
  int64_t needed = 0;  // bytes
  int64_t limit = 0;
  std::vector<RefusalHolder> largest;  // largest first
};

// "placement @mlp: found 9.4 GiB needed on gpu:0 at %h, 1.4 GiB too much;
// expected at most 8.0 GiB; largest: %w7 1.6 GiB (constant), ...".
std::string RefusalText(const Refusal& refusal);
// ResourceExhausted with that text and a payload for ShortageOf.
absl::Status RefusalError(const Refusal& refusal);

// The device without enough memory, and the shortage. Nothing if the status is
// not a RefusalError. The caller finds a remedy, as it knows the whole request.
struct MemoryShortage {
  int64_t missing() const { return needed - limit; }
  std::string device;
  int64_t needed = 0;
  int64_t limit = 0;
  std::string strategy;  // that needs the bytes; empty: the requested one
};
std::optional<MemoryShortage> ShortageOf(const absl::Status& status);
void SetShortage(const MemoryShortage& shortage, absl::Status& status);

// The remedy that always helps: a machine with enough free memory on the
// device, rounded up to a size that machine files accept.
std::string MemoryRemedy(const MemoryShortage& shortage);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_REFUSAL_H_
