// Locates the commands of a step in the plan's text, for messages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_
#define PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_

#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// True for most plans: all commands are in one program `main`, which is invoked
// once and has no slots. The text then lists them directly in the entry, with
// the numbers of the expanded step.
bool HasOnlyMain(const Entry& entry);

// Takes the numbers of commands in the expanded step, as traces do.
class CommandPlaces {
 public:
  CommandPlaces() = default;
  // The entry must outlive this. Needs: all programs that the schedule names,
  // as Expand does.
  explicit CommandPlaces(const Entry& entry);

  // "command 7"; if the entry has programs, "command 7 of program forward0
  // (invocation 8, batch 2)", with the number in the program.
  std::string Text(CommandId command) const;

  // The event of a record or wait as in the text: "ev3", or "slot1 (ev3)" if
  // the invocation binds it.
  std::string EventText(CommandId command) const;

  // The name of the event for another command of the same invocation: "slot1"
  // if the invocation binds the event, else "ev3". Empty if the program is
  // invoked several times, because all invocations would then name the same
  // event.
  std::optional<std::string> EventBeside(CommandId command,
                                         EventId event) const;

 private:
  struct Place {
    const Invocation* invocation = nullptr;  // null: the entry's own command
    int number = 0;                          // in the program
  };
  Place Of(CommandId command) const;

  const Entry* entry_ = nullptr;
  std::vector<CommandId> firsts_;   // by invocation: its first command
  std::vector<int> invoked_;        // by program: number of invocations
  std::vector<std::string> names_;  // by program, as spelled in the text
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COMMAND_PLACES_H_
