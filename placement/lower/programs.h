// Groups the commands of a step into programs that a schedule invokes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PROGRAMS_H_
#define PARTITA_PLACEMENT_LOWER_PROGRAMS_H_

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// A stretch of the launch order that one invocation can run.
struct CommandRun {
  std::string name;  // name of its program
  MicroBatchId micro_batch = kFirstMicroBatch;
  std::vector<Command> commands;
};

// Adds programs and the schedule to `entry`. Runs that differ only in
// micro-batch, events and buffers share one program, whose slots stand for what
// differs. A single run becomes the program "main".
void AddPrograms(const std::vector<CommandRun>& runs, Entry& entry);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PROGRAMS_H_
