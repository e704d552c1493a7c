// Parses one entry of a plan's text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_
#define PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/text/diagnostics.h"
#include "runtime/plan/entry_scope.h"
#include "runtime/plan/literal_index.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_line.h"
#include "runtime/plan/program_parser.h"

namespace partita {

// Takes the lines of an entry one by one. Lines are independent: a faulty line
// does not hide faults of the others.
class EntryParser {
 public:
  EntryParser(Plan& plan, const DevicesByName& devices, LiteralIndex& literals,
              Diagnostics& faults)
      : plan_(plan),
        literals_(literals),
        faults_(faults),
        scope_(devices, entry_) {}
  EntryParser(const EntryParser&) = delete;  // scope_ refers to entry_
  EntryParser& operator=(const EntryParser&) = delete;

  // The line `entry @name of @graph depth 1 events 0 {`, after its first word.
  void ReadHead(PlanLine& line);
  // False if the line is the closing brace of the entry.
  bool ReadLine(PlanLine& line);
  // The entry, once ReadLine has returned false or the text has ended.
  Entry Take() { return std::move(entry_); }

 private:
  enum class Section : uint8_t {
    kNone,
    kArena,
    kPersistent,
    kStream,
    kSchedule
  };

  void ReadStatement(PlanLine& line);
  void ReadOfSection(PlanLine& line);
  void ReadInput(PlanLine& line) { ReadPort(line, entry_.inputs); }
  void ReadOutput(PlanLine& line) { ReadPort(line, entry_.outputs); }
  void ReadPort(PlanLine& line, std::vector<Port>& ports);
  void ReadArena(PlanLine& line);
  void ReadBuffer(PlanLine& line);
  void OpenPersistent(PlanLine&) { section_ = Section::kPersistent; }
  void ReadPersistent(PlanLine& line);
  LiteralId ReadInitial(PlanLine& line);
  void ReadStream(PlanLine& line);
  void ReadCommand(PlanLine& line);
  void ReadGroup(PlanLine& line);
  void ReadChannel(PlanLine& line);
  void ReadProgram(PlanLine& line);
  void OpenSchedule(PlanLine&) { section_ = Section::kSchedule; }
  void ReadInvocation(PlanLine& line);
  void CloseProgram();
  void CloseEntry(PlanLine& line);

  Plan& plan_;
  LiteralIndex& literals_;
  Diagnostics& faults_;
  Entry entry_;
  EntryScope scope_;
  Section section_ = Section::kNone;
  DeviceId arena_;
  StreamId stream_;
  absl::flat_hash_map<std::string, ProgramId> programs_;
  ProgramParser main_{"main"};         // the entry's own commands
  std::optional<ProgramParser> open_;  // the program that is not closed yet
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PARSE_ENTRY_H_
