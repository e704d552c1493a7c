// Positions of commands in a plan's entry, for mutations.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_COMMAND_LIST_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_COMMAND_LIST_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/testing/mutants/mutate.h"

namespace partita {

// A command in a program.
struct Place {
  ProgramId program;
  int index;
};

using CommandTest = std::function<bool(const Command&)>;

inline std::vector<Place> PlacesOf(const Entry& entry,
                                   const CommandTest& test) {
  std::vector<Place> places;
  for (size_t p = 0; p < entry.programs.size(); ++p) {
    const std::vector<Command>& commands = entry.programs[p].commands;
    for (size_t i = 0; i < commands.size(); ++i) {
      if (test(commands[i])) {
        places.push_back({ProgramId(static_cast<int>(p)), static_cast<int>(i)});
      }
    }
  }
  return places;
}

// A random element of `from`; empty if `from` is empty.
template <typename T>
std::optional<T> Draw(const std::vector<T>& from, Random& random) {
  if (from.empty()) return std::nullopt;
  return from[random() % from.size()];
}

inline Command& CommandAt(Entry& entry, Place place) {
  return entry.programs[place.program.index].commands[place.index];
}

inline std::string TextOf(const Entry& entry, Place place) {
  const Command& command =
      entry.programs[place.program.index].commands[place.index];
  return absl::StrCat(CommandKindName(command.kind), " ", place.index,
                      " of program ", place.program.index);
}

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_COMMAND_LIST_H_
