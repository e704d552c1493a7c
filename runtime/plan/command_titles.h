// Titles of commands in timelines, pages and messages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_COMMAND_TITLES_H_
#define PARTITA_RUNTIME_PLAN_COMMAND_TITLES_H_

#include <string>

#include "runtime/plan/plan.h"
#include "runtime/plan/plan_names.h"

namespace partita {

// Nodes have the names of the plan's text.
class CommandTitles {
 public:
  // The entry must outlive the titles.
  CommandTitles(const Plan& plan, const Entry& entry);

  // "conv %y", "copy %h", "feed x", "record ev3".
  std::string TitleOf(const Command& command) const;

  // "conv %y"; empty for a command without a node.
  std::string NodeOf(const Command& command) const;

 private:
  const Entry& entry_;
  const EntryNames names_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_COMMAND_TITLES_H_
