// What to say when a graph does not fit: who is short, and what fills it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_REFUSAL_H_
#define PARTITA_PLACEMENT_PLANNER_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace partita {

// One tensor that fills the device: "%w1", 1.6 GiB, "constant".
struct RefusalHolder {
  std::string name;
  int64_t bytes = 0;
  std::string kind;  // constant, variable, input, activation, workspace
};

struct Refusal {
  std::string where;  // "placement @mlp", "plan @mlp"
  std::string device;
  std::string at;      // "%h", or "command 41"; may be empty
  int64_t needed = 0;  // bytes
  int64_t limit = 0;
  std::vector<RefusalHolder> largest;  // largest first
};

// "placement @mlp: found 9.4 GiB needed on gpu:0 at %h, 1.4 GiB too much;
// expected at most 8.0 GiB; largest: %w7 1.6 GiB (constant), ...".
std::string RefusalText(const Refusal& refusal);
// ResourceExhausted with that text and, for ShortageOf, the particulars.
absl::Status RefusalError(const Refusal& refusal);

// The device that is short and by how much; nothing if the status is not a
// RefusalError. What helps is found by whoever knows the whole request.
struct MemoryShortage {
  int64_t missing() const { return needed - limit; }
  std::string device;
  int64_t needed = 0;
  int64_t limit = 0;
  std::string strategy;  // that needs so much; empty: whatever was asked for
};
std::optional<MemoryShortage> ShortageOf(const absl::Status& status);
void SetShortage(const MemoryShortage& shortage, absl::Status& status);

// The remedy that helps always: the bytes that the device must have free,
// rounded up to a size that machine files take.
std::string MemoryRemedy(const MemoryShortage& shortage);

// "%w1", or the number by which the textual IR calls an unnamed value.
std::string ValueText(const Graph& graph, ValueId value);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_REFUSAL_H_
