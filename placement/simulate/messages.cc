// Counts the sends and receives of every channel.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/messages.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace partita {
namespace {

class MessageFinder {
 public:
  explicit MessageFinder(const Entry& entry)
      : entry_(entry), ends_(entry.channels.size()) {}

  // The message of the next send or recv of a channel.
  MessageId Next(const Command& command) {
    Ends& ends = ends_[command.channel];
    const size_t number =
        command.kind == Command::Kind::kSend ? ends.sends++ : ends.receives++;
    if (number == ends.messages.size())
      Open(entry_.channels[command.channel.index], ends);
    return ends.messages[number];
  }

  ChannelMessage& message(MessageId id) { return list_[id]; }
  IdVector<MessageId, ChannelMessage> Take() { return std::move(list_); }

 private:
  struct Ends {
    size_t sends = 0;
    size_t receives = 0;
    std::vector<MessageId> messages;  // in order
  };

  void Open(const Channel& channel, Ends& ends) {
    const size_t number = ends.messages.size();
    ChannelMessage message;
    message.rendezvous = channel.capacity <= 0;
    if (!message.rendezvous) {
      const size_t capacity = channel.capacity;
      if (number >= capacity) message.before = ends.messages[number - capacity];
      const size_t slot = number % capacity;
      if (slot < channel.slots.size()) message.slot = channel.slots[slot];
    }
    ends.messages.push_back(list_.Add(message));
  }

  const Entry& entry_;
  IdVector<ChannelId, Ends> ends_;
  IdVector<MessageId, ChannelMessage> list_;
};

}  // namespace

ChannelMessages MessagesOf(const Entry& entry,
                           IdSpan<CommandId, Command> commands) {
  ChannelMessages messages;
  messages.of_command = IdVector<CommandId, MessageId>(commands.size());
  MessageFinder finder(entry);
  for (CommandId id : commands.ids()) {
    const Command& command = commands[id];
    const bool sends = command.kind == Command::Kind::kSend;
    if (!sends && command.kind != Command::Kind::kRecv) continue;
    if (!command.channel.valid() ||
        static_cast<size_t>(command.channel.index) >= entry.channels.size()) {
      continue;
    }
    messages.of_command[id] = finder.Next(command);
    ChannelMessage& message = finder.message(messages.of_command[id]);
    (sends ? message.send : message.recv) = id;
  }
  messages.list = finder.Take();
  return messages;
}

}  // namespace partita
