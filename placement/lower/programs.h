// Step 10: the commands of a step as programs that a schedule invokes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PROGRAMS_H_
#define PARTITA_PLACEMENT_LOWER_PROGRAMS_H_

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// A stretch of the launch order that may be invoked by itself.
struct CommandRun {
  std::string name;  // of its program
  int micro_batch = 0;
  std::vector<Command> commands;
};

// Runs that differ in nothing but micro-batch, events and the bytes that they
// work on become one program, in which slots stand for what differs. One run
// alone is the program "main".
void AddPrograms(const std::vector<CommandRun>& runs, Entry& entry);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PROGRAMS_H_
