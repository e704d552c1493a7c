// The names that a plan's text uses.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_NAMES_H_
#define PARTITA_RUNTIME_PLAN_PLAN_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/plan/plan.h"

namespace partita {

// Makes names unique: an empty name becomes its position, and a repeated name
// gets a number after a dot.
std::vector<std::string> UniqueNames(const std::vector<std::string>& names);

// The spelling of everything in one entry that commands refer to. Ids that do
// not exist are spelled with a question mark.
class EntryNames {
 public:
  EntryNames(const Plan& plan, const Entry& entry);

  std::string node(NodeId id) const;      // %a
  std::string buffer(BufferId id) const;  // !a, or $0 for a slot
  std::string event(EventId id) const;    // ev0, or slot0 for a slot
  std::string stream(StreamId id) const;  // gpu:0/compute
  std::string buffers(const std::vector<BufferId>& ids) const;  // (!a, !b)
  std::string events(const std::vector<EventId>& ids) const;    // (ev0, ev1)

 private:
  std::vector<std::string> nodes_;  // by node id; empty: no such node
  std::vector<std::string> buffers_;
  std::vector<std::string> streams_;
};

// By node id the name of the first result, without sigil and quotes; empty if
// there is none. The names are unique even without their quotes.
std::vector<std::string> NodeNames(const Graph& graph);

// The spelling of the entry's programs.
std::vector<std::string> ProgramNames(const Entry& entry);

// The spelling of the plan's devices.
std::vector<std::string> DeviceNames(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_NAMES_H_
