// Reads one entry of a plan's text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "graph/text/diagnostics.h"
#include "runtime/plan/literal_index.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_line.h"

namespace partita {

using DevicesByName = absl::flat_hash_map<std::string, DeviceId>;

// Takes the lines of an entry one by one; each line stands for itself, so that
// a faulty one does not hide what the others say.
class EntryParser {
 public:
  EntryParser(Plan& plan, const DevicesByName& devices, LiteralIndex& literals,
              Diagnostics& faults);

  // The line `entry @name of @graph depth 1 events 0 {`, after its first word.
  void ReadHead(PlanLine& line);
  // False if the line was the closing brace of the entry.
  bool ReadLine(PlanLine& line);
  // What was read, once ReadLine has said false or the text has ended.
  Entry Take() { return std::move(entry_); }

 private:
  enum class Section : uint8_t {
    kNone,
    kArena,
    kPersistent,
    kStream,
    kSchedule
  };
  // A program whose closing brace has not come yet; the entry's own commands
  // are one too.
  struct OpenProgram {
    Program program;
    std::vector<int64_t> numbers;           // as written; -1: none
    std::vector<absl::string_view> places;  // of the commands
  };

  void ReadPort(PlanLine& line, std::vector<Port>& ports);
  void ReadArena(PlanLine& line);
  void ReadBuffer(PlanLine& line);
  void ReadPersistent(PlanLine& line);
  LiteralId ReadInitial(PlanLine& line);
  void ReadStream(PlanLine& line);
  void ReadGroup(PlanLine& line);
  void ReadChannel(PlanLine& line);
  void ReadProgram(PlanLine& line);
  void ReadInvocation(PlanLine& line);
  void ReadCommand(PlanLine& line);
  void ReadCommandParts(PlanLine& line, Command& command);
  void CloseProgram(PlanLine& line);
  void CloseEntry(PlanLine& line);
  // In launch order, if the numbers say one.
  std::optional<Program> InLaunchOrder(OpenProgram open);
  void CheckIds(absl::string_view place, const Command& command);

  DeviceId FindDevice(PlanLine& line);
  StreamId FindStream(PlanLine& line, bool declare);
  NodeId FindNode(PlanLine& line);
  BufferId FindBuffer(PlanLine& line, bool slots);
  std::vector<BufferId> FindBuffers(PlanLine& line, bool slots);
  EventId FindEvent(PlanLine& line, bool slots);

  Plan& plan_;
  const DevicesByName& devices_;
  LiteralIndex& literals_;
  Diagnostics& faults_;
  Entry entry_;
  Section section_ = Section::kNone;
  DeviceId arena_;
  StreamId stream_;
  bool events_given_ = false;
  absl::flat_hash_map<std::string, NodeId> nodes_;
  absl::flat_hash_map<std::string, BufferId> buffers_;
  absl::flat_hash_map<std::pair<DeviceId, std::string>, StreamId> streams_;
  absl::flat_hash_map<std::string, int> programs_;
  OpenProgram main_;
  std::optional<OpenProgram> open_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_
