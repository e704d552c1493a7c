// Mutations of commands: order, presence, partners.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "runtime/plan/checker/testing/mutants/command_list.h"
#include "runtime/plan/checker/testing/mutants/mutation_list.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// Commands that order, move bytes or communicate.
bool Synchronises(const Command& command) {
  switch (command.kind) {
    case Kind::kRecord:
    case Kind::kWait:
    case Kind::kCopy:
    case Kind::kSend:
    case Kind::kRecv:
    case Kind::kCollective:
      return true;
    default:
      return false;
  }
}

std::string RemoveAt(Entry& entry, std::optional<Place> place) {
  if (!place.has_value()) return "";
  const std::string text = TextOf(entry, *place);
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  commands.erase(commands.begin() + place->index);
  return absl::StrCat("removed ", text);
}

template <Kind kind>
std::string Remove(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  return RemoveAt(entry, Draw(PlacesOf(entry,
                                       [](const Command& command) {
                                         return command.kind == kind;
                                       }),
                              random));
}

std::string Move(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry, Synchronises), random);
  if (!place.has_value()) return "";
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  const std::string text = TextOf(entry, *place);
  const Command command = commands[place->index];
  commands.erase(commands.begin() + place->index);
  const size_t to = random() % (commands.size() + 1);
  if (static_cast<int>(to) == place->index) {
    commands.insert(commands.begin() + to, command);
    return "";
  }
  commands.insert(commands.begin() + to, command);
  return absl::StrCat("moved ", text, " to ", to);
}

std::string Duplicate(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry, Synchronises), random);
  if (!place.has_value()) return "";
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  const std::string text = TextOf(entry, *place);
  const Command command = commands[place->index];
  const size_t to = random() % (commands.size() + 1);
  commands.insert(commands.begin() + to, command);
  return absl::StrCat("duplicated ", text, " at ", to);
}

// Swaps two commands of one kind.
std::string Swap(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> a = Draw(PlacesOf(entry, Synchronises), random);
  if (!a.has_value()) return "";
  const Kind kind = CommandAt(entry, *a).kind;
  const std::optional<Place> b = Draw(
      PlacesOf(entry,
               [&](const Command& command) { return command.kind == kind; }),
      random);
  if (CommandAt(entry, *a) == CommandAt(entry, *b)) return "";
  std::swap(CommandAt(entry, *a), CommandAt(entry, *b));
  return absl::StrCat("swapped ", TextOf(entry, *a), " with ",
                      TextOf(entry, *b));
}

std::string RetargetEvent(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry,
                    [](const Command& command) {
                      return command.kind == Kind::kWait ||
                             command.kind == Kind::kRecord;
                    }),
           random);
  if (!place.has_value() || entry.num_events < 2) return "";
  EventId& event = CommandAt(entry, *place).event;
  const EventId other(static_cast<int32_t>(random() % entry.num_events));
  if (other == event) return "";
  event = other;
  return absl::StrCat("retargeted ", TextOf(entry, *place), " to ev",
                      other.index);
}

// Neighbours in launch order.
std::string SwapNeighbours(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry, [](const Command&) { return true; }), random);
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  if (place->index + 1 >= static_cast<int>(commands.size())) return "";
  std::swap(commands[place->index], commands[place->index + 1]);
  return absl::StrCat("swapped ", place->index, " and the next");
}

// Swaps any two commands in launch order.
std::string SwapAnyTwo(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry, [](const Command&) { return true; }), random);
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  const int other = static_cast<int>(random() % commands.size());
  if (other == place->index) return "";
  std::swap(commands[place->index], commands[other]);
  return absl::StrCat("swapped ", place->index, " and ", other);
}

std::string SwapInvocations(Plan& plan, Random& random) {
  std::vector<Invocation>& schedule = plan.entries[0].schedule;
  if (schedule.size() < 2) return "";
  const size_t at = random() % (schedule.size() - 1);
  std::swap(schedule[at], schedule[at + 1]);
  return absl::StrCat("swapped invocations ", at, " and ", at + 1);
}

// One rank issues two of its collectives in the other order.
std::string ReorderRank(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const auto is_part = [](const Command& command) {
    return command.kind == Kind::kCollective;
  };
  const std::optional<Place> a = Draw(PlacesOf(entry, is_part), random);
  if (!a.has_value()) return "";
  const StreamId stream = CommandAt(entry, *a).stream;
  const std::optional<Place> b =
      Draw(PlacesOf(entry,
                    [&](const Command& command) {
                      return is_part(command) && command.stream == stream;
                    }),
           random);
  if (a->index == b->index) return "";
  std::swap(CommandAt(entry, *a), CommandAt(entry, *b));
  return absl::StrCat("rank reorders ", TextOf(entry, *a), " and ",
                      TextOf(entry, *b));
}

std::string MoveToStream(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry, [](const Command&) { return true; }), random);
  StreamId& stream = CommandAt(entry, *place).stream;
  const StreamId other(static_cast<int32_t>(random() % entry.streams.size()));
  if (other == stream ||
      entry.streams[other.index].device != entry.streams[stream.index].device) {
    return "";
  }
  stream = other;
  return absl::StrCat("moved ", TextOf(entry, *place), " to stream ",
                      other.index);
}

constexpr Mutation kCommandMutations[] = {
    {"remove record", Remove<Kind::kRecord>},
    {"remove wait", Remove<Kind::kWait>},
    {"remove copy", Remove<Kind::kCopy>},
    {"remove send", Remove<Kind::kSend>},
    {"remove recv", Remove<Kind::kRecv>},
    {"remove collective", Remove<Kind::kCollective>},
    {"drop kernel", Remove<Kind::kKernel>},
    {"drop feed", Remove<Kind::kFeed>},
    {"drop fetch", Remove<Kind::kFetch>},
    {"move", Move},
    {"duplicate", Duplicate},
    {"swap alike", Swap},
    {"retarget event", RetargetEvent},
    {"swap neighbours", SwapNeighbours},
    {"swap any two", SwapAnyTwo},
    {"swap invocations", SwapInvocations},
    {"reorder rank", ReorderRank},
    {"move to stream", MoveToStream},
};

}  // namespace

absl::Span<const Mutation> CommandMutations() { return kCommandMutations; }

}  // namespace partita
