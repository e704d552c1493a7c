// Tests of the matching of collectives and messages.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/communications.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

Command RankCommand(int stream, int group) {
  Command command;
  command.kind = Command::Kind::kCollective;
  command.stream = StreamId(stream);
  command.instance = {NodeId(group), stream, 0};
  command.group = GroupId(group);
  return command;
}

Command Message(Command::Kind kind, int stream, int channel) {
  Command end;
  end.kind = kind;
  end.stream = StreamId(stream);
  end.channel = ChannelId(channel);
  return end;
}

// There are as many groups and channels as commands; searching all commands for
// each of them would take minutes.
TEST(CommunicationsTest, ManyGroupsAndChannelsAreMatchedQuickly) {
  constexpr int kCount = 100'000;
  Entry entry;
  entry.streams.resize(2);
  std::vector<Command> commands;
  for (int i = 0; i < kCount; ++i) {
    entry.groups.push_back({{StreamId(0), StreamId(1)}});
    entry.channels.push_back({StreamId(0), StreamId(1)});
    commands.push_back(RankCommand(1, i));
    commands.push_back(RankCommand(0, i));
    commands.push_back(Message(Command::Kind::kSend, 0, i));
    commands.push_back(Message(Command::Kind::kRecv, 1, i));
  }
  const auto communications = Communications::Find(entry, commands);
  ASSERT_TRUE(communications.ok()) << communications.status();
  for (int i = 0; i < kCount; ++i) {
    const int first = 4 * i;
    ASSERT_EQ(communications->of(first).commands,
              (std::vector<int>{first + 1, first}));
    ASSERT_EQ(&communications->of(first + 1), &communications->of(first));
    ASSERT_EQ(communications->of(first + 3).commands,
              (std::vector<int>{first + 2, first + 3}));
  }
}

TEST(CommunicationsTest, CommandsAreNumberedWithinTheirGroup) {
  Entry entry;
  entry.streams.resize(2);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  const auto communications =
      Communications::Find(entry, {RankCommand(0, 0), RankCommand(0, 0),
                                   RankCommand(1, 0), RankCommand(1, 0)});
  ASSERT_TRUE(communications.ok()) << communications.status();
  EXPECT_EQ(communications->of(0).number, 0);
  EXPECT_EQ(communications->of(3).number, 1);
  EXPECT_EQ(communications->of(3).commands, (std::vector<int>{1, 3}));
  EXPECT_EQ(communications->of(1).points_per_step, 4u);
}

TEST(CommunicationsTest, ACommandWithoutAPartnerIsNamed) {
  Entry entry;
  entry.streams.resize(3);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  EXPECT_EQ(
      Communications::Find(entry, {RankCommand(2, 0)}).status().message(),
      "command 0: found no group or channel of its stream; expected a plan "
      "that the checker accepts");
  EXPECT_EQ(Communications::Find(entry, {RankCommand(0, 0)}).status().message(),
            "command 0: found no partner in another stream; expected a plan "
            "that the checker accepts");
}

}  // namespace
}  // namespace partita
