// Parses the commands of one program of a plan's text.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PROGRAM_PARSER_H_
#define PARTITA_RUNTIME_PLAN_PROGRAM_PARSER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/text/diagnostics.h"
#include "runtime/plan/entry_scope.h"

namespace partita {

// The program that `program first buffers 1 events 1 {` opens, or the program
// of an entry's own commands.
class ProgramParser {
 public:
  // Parses the line after its first word.
  static ProgramParser Open(PlanLine& line);
  explicit ProgramParser(std::string name) { program_.name = std::move(name); }

  const std::string& name() const { return program_.name; }
  bool empty() const { return written_.empty(); }

  // `stream`: the stream of the section that contains the command.
  void ReadCommand(PlanLine& line, std::optional<StreamId> stream,
                   EntryScope& scope);

  // The program in launch order, if its commands have numbers; empty if the
  // numbers disagree. Leaves this empty.
  std::optional<Program> Take(const Entry& entry, Diagnostics& faults);

 private:
  struct Written {
    Command command;
    int64_t number;           // -1: none
    absl::string_view place;  // in the text
  };
  void ReadParts(PlanLine& line, Command& command, EntryScope& scope) const;
  void ReadNumbers(PlanLine& line, Command& command) const;
  bool NumbersAgree(Diagnostics& faults) const;

  Program program_;  // without its commands
  std::vector<Written> written_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PROGRAM_PARSER_H_
