// The names that an entry's text has defined so far.
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

// Every Find takes a name from the line. An unknown name is a fault of the
// line, and the returned id is invalid.
class EntryScope {
 public:
  // Both must outlive this. Declarations add streams and events to `entry`.
  EntryScope(const DevicesByName& devices, Entry& entry)
      : devices_(devices), entry_(entry) {}

  // Defines the nodes of the entry's graph by the names of their first results.
  void DefineNodes();
  // Sets the number of events. Without this call, events exist as they are
  // named.
  void DefineEvents(int count);
  // Defines the entry's next buffer. False if the name is taken.
  bool DefineBuffer(const std::string& name);

  DeviceId FindDevice(PlanLine& line) const;
  StreamId FindStream(PlanLine& line) const;
  StreamId FindOrDeclareStream(PlanLine& line);
  NodeId FindNode(PlanLine& line) const;
  // `program`: the program whose slots may be named, or null.
  BufferId FindBuffer(PlanLine& line, const Program* program) const;
  // `(!a, !b)`, or one buffer without parentheses.
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
