// Tests of the matching of collectives and messages.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/communications.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace partita {
namespace {

Command RankCommand(int stream, int group) {
  Command command;
  command.kind = Command::Kind::kCollective;
  command.stream = StreamId(stream);
  command.instance = {NodeId(group), stream};
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

CommandList ListOf(std::initializer_list<Command> commands) {
  CommandList list;
  for (const Command& command : commands) list.Add(command);
  return list;
}

// There are as many groups and channels as commands; searching all commands for
// each of them would take minutes.
TEST(CommunicationsTest, ManyGroupsAndChannelsAreMatchedQuickly) {
  constexpr int kCount = 100'000;
  Entry entry;
  entry.streams.resize(2);
  CommandList commands;
  for (int i = 0; i < kCount; ++i) {
    entry.groups.push_back({{StreamId(0), StreamId(1)}});
    entry.channels.push_back({StreamId(0), StreamId(1)});
    commands.Add(RankCommand(1, i));
    commands.Add(RankCommand(0, i));
    commands.Add(Message(Command::Kind::kSend, 0, i));
    commands.Add(Message(Command::Kind::kRecv, 1, i));
  }
  const auto communications = Communications::Find(entry, commands);
  ASSERT_TRUE(communications.ok()) << communications.status();
  for (int i = 0; i < kCount; ++i) {
    const CommandId rank_1(4 * i), rank_0(4 * i + 1);
    const CommandId send(4 * i + 2), recv(4 * i + 3);
    ASSERT_EQ(communications->of(rank_1).commands,
              (std::vector<CommandId>{rank_0, rank_1}));
    ASSERT_EQ(&communications->of(rank_0), &communications->of(rank_1));
    ASSERT_EQ(communications->of(recv).commands,
              (std::vector<CommandId>{send, recv}));
  }
}

TEST(CommunicationsTest, CommandsAreNumberedWithinTheirGroup) {
  Entry entry;
  entry.streams.resize(2);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  const auto communications = Communications::Find(
      entry, ListOf({RankCommand(0, 0), RankCommand(0, 0), RankCommand(1, 0),
                     RankCommand(1, 0)}));
  ASSERT_TRUE(communications.ok()) << communications.status();
  EXPECT_EQ(communications->of(CommandId(0)).number, 0);
  EXPECT_EQ(communications->of(CommandId(3)).number, 1);
  EXPECT_EQ(communications->of(CommandId(3)).commands,
            (std::vector<CommandId>{CommandId(1), CommandId(3)}));
  EXPECT_EQ(communications->of(CommandId(1)).per_step, 2);
}

TEST(CommunicationsTest, ACommandWithoutAPartnerIsNamed) {
  Entry entry;
  entry.streams.resize(3);
  entry.groups.push_back({{StreamId(0), StreamId(1)}});
  EXPECT_EQ(
      Communications::Find(entry, ListOf({RankCommand(2, 0)}))
          .status()
          .message(),
      "command 0: found no group or channel of its stream; expected a plan "
      "that the checker accepts");
  EXPECT_EQ(Communications::Find(entry, ListOf({RankCommand(0, 0)}))
                .status()
                .message(),
            "command 0: found no partner in another stream; expected a plan "
            "that the checker accepts");
}

}  // namespace
}  // namespace partita
