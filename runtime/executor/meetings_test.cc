// Tests of who meets whom.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/meetings.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

Command Part(int stream, int group) {
  Command part;
  part.kind = Command::Kind::kCollective;
  part.stream = StreamId(stream);
  part.instance = {NodeId(group), stream, 0};
  part.group = GroupId(group);
  return part;
}

Command Message(Command::Kind kind, int stream, int channel) {
  Command end;
  end.kind = kind;
  end.stream = StreamId(stream);
  end.channel = ChannelId(channel);
  return end;
}

// As many groups and channels as commands: going through all commands for each
// of them would take minutes.
TEST(Meetings, OfManyGroupsAndChannelsEachIsFoundByItsCommands) {
  constexpr int kCount = 100'000;
  Entry entry;
  entry.streams.resize(2);
  std::vector<Command> commands;
  for (int i = 0; i < kCount; ++i) {
    entry.groups.push_back({{StreamId(0), StreamId(1)}});
    entry.channels.push_back({StreamId(0), StreamId(1)});
    commands.push_back(Part(1, i));
    commands.push_back(Part(0, i));
    commands.push_back(Message(Command::Kind::kSend, 0, i));
    commands.push_back(Message(Command::Kind::kRecv, 1, i));
  }
  const auto meetings = Meetings::Find(entry, commands);
  ASSERT_TRUE(meetings.ok()) << meetings.status();
  for (int i = 0; i < kCount; ++i) {
    const int first = 4 * i;
    ASSERT_EQ(meetings->of(first).commands,
              (std::vector<int>{first + 1, first}));
    ASSERT_EQ(&meetings->of(first + 1), &meetings->of(first));
    ASSERT_EQ(meetings->of(first + 3).commands,
              (std::vector<int>{first + 2, first + 3}));
  }
}

TEST(Meetings, CommandsAreNumberedWithinTheirGroup) {
  Entry entry;
  entry.streams.resize(2);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  const auto meetings =
      Meetings::Find(entry, {Part(0, 0), Part(0, 0), Part(1, 0), Part(1, 0)});
  ASSERT_TRUE(meetings.ok()) << meetings.status();
  EXPECT_EQ(meetings->of(0).number, 0);
  EXPECT_EQ(meetings->of(3).number, 1);
  EXPECT_EQ(meetings->of(3).commands, (std::vector<int>{1, 3}));
  EXPECT_EQ(meetings->of(1).points_per_step, 4u);
}

TEST(Meetings, WhoMeetsNobodyIsNamed) {
  Entry entry;
  entry.streams.resize(3);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  EXPECT_EQ(
      Meetings::Find(entry, {Part(2, 0)}).status().message(),
      "command 0: found no group or channel of its stream; expected a plan "
      "that the checker accepts");
  EXPECT_EQ(Meetings::Find(entry, {Part(0, 0)}).status().message(),
            "command 0: found no partner in another stream; expected a plan "
            "that the checker accepts");
}

}  // namespace
}  // namespace partita
