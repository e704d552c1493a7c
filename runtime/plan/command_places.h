// Where the plan's text has the commands of a step, for messages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_
#define PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_

#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// True of most plans: the entry's commands are those of one program `main` that
// is invoked once and has no slots, and stand in its text without a program
// around them. Their numbers are those of the expanded step.
bool HasOnlyMain(const Entry& entry);

// By the number of a command of the expanded step, as traces count them.
class CommandPlaces {
 public:
  CommandPlaces() = default;
  // The entry must outlive this, and its programs be those that its schedule
  // names, as Expand demands.
  explicit CommandPlaces(const Entry& entry);

  // "command 7"; where the entry has programs, "command 7 of program forward0
  // (invocation 8, batch 2)", by the program's own number.
  std::string Text(int command) const;

  // The event of a record or wait as the text has it there: "ev3", or "slot1
  // (ev3)" for what the invocation binds.
  std::string EventText(int command) const;

  // What a command beside this one would call the event: "slot1" if the
  // invocation binds it, else "ev3", but nothing where the program is invoked
  // several times, so that each of its invocations would name that event.
  std::optional<std::string> EventBeside(int command, EventId event) const;

 private:
  struct Place {
    const Invocation* invocation = nullptr;  // none: the entry's own command
    int number = 0;                          // in the program
  };
  Place Of(int command) const;

  const Entry* entry_ = nullptr;
  std::vector<int> firsts_;         // by invocation: its first command
  std::vector<int> invoked_;        // by program: how often
  std::vector<std::string> names_;  // by program, as the text spells them
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_
