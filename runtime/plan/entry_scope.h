// The names that an entry's text can use, as far as it was read.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_ENTRY_SCOPE_H_
#define PARTITA_RUNTIME_PLAN_ENTRY_SCOPE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_line.h"

namespace partita {

using DevicesByName = absl::flat_hash_map<std::string, DeviceId>;

// Every Find takes a name from the line; one that is unknown is the line's
// fault, and the id is invalid.
class EntryScope {
 public:
  // Both must outlive this. Streams and events are added to `entry` where they
  // are declared.
  EntryScope(const DevicesByName& devices, Entry& entry)
      : devices_(devices), entry_(entry) {}

  // The nodes of the entry's graph, by their first results.
  void DefineNodes();
  // How many events there are; unless it is called, those that are named.
  void DefineEvents(int count);
  // The entry's next buffer. False if the name is taken.
  bool DefineBuffer(const std::string& name);

  DeviceId FindDevice(PlanLine& line) const;
  StreamId FindStream(PlanLine& line) const;
  StreamId FindOrDeclareStream(PlanLine& line);
  NodeId FindNode(PlanLine& line) const;
  // `program`: the one whose slots may be named, or null.
  BufferId FindBuffer(PlanLine& line, const Program* program) const;
  // `(!a, !b)`, or one without parentheses.
  std::vector<BufferId> FindBuffers(PlanLine& line,
                                    const Program* program) const;
  EventId FindEvent(PlanLine& line, const Program* program);

 private:
  using StreamName = std::pair<DeviceId, std::string>;
  StreamName ReadStream(PlanLine& line) const;

  const DevicesByName& devices_;
  Entry& entry_;
  bool events_given_ = false;
  absl::flat_hash_map<std::string, NodeId> nodes_;
  absl::flat_hash_map<std::string, BufferId> buffers_;
  absl::flat_hash_map<StreamName, StreamId> streams_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_ENTRY_SCOPE_H_
