// Counts the sends and receives of every channel.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/messages.h"

#include <cstddef>
#include <utility>

namespace partita {
namespace {

class MessageFinder {
 public:
  explicit MessageFinder(const Entry& entry)
      : entry_(entry), ends_(entry.channels.size()) {}

  // The message of the next send or recv of a channel: an index into list_.
  int Next(const Command& command) {
    const size_t channel = command.channel.index;
    Ends& ends = ends_[channel];
    const size_t number =
        command.kind == Command::Kind::kSend ? ends.sends++ : ends.receives++;
    if (number == ends.messages.size()) Open(entry_.channels[channel], ends);
    return ends.messages[number];
  }

  ChannelMessage& message(int index) { return list_[index]; }
  std::vector<ChannelMessage> Take() { return std::move(list_); }

 private:
  struct Ends {
    size_t sends = 0;
    size_t receives = 0;
    std::vector<int> messages;  // in order; indices into list_
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
    ends.messages.push_back(static_cast<int>(list_.size()));
    list_.push_back(message);
  }

  const Entry& entry_;
  std::vector<Ends> ends_;  // by channel
  std::vector<ChannelMessage> list_;
};

}  // namespace

ChannelMessages MessagesOf(const Entry& entry,
                           absl::Span<const Command> commands) {
  ChannelMessages messages;
  messages.of_command.assign(commands.size(), -1);
  MessageFinder finder(entry);
  for (size_t c = 0; c < commands.size(); ++c) {
    const Command& command = commands[c];
    const bool sends = command.kind == Command::Kind::kSend;
    if (!sends && command.kind != Command::Kind::kRecv) continue;
    if (!command.channel.valid() ||
        static_cast<size_t>(command.channel.index) >= entry.channels.size()) {
      continue;
    }
    const int index = finder.Next(command);
    messages.of_command[c] = index;
    ChannelMessage& message = finder.message(index);
    (sends ? message.send : message.recv) = static_cast<int>(c);
  }
  messages.list = finder.Take();
  return messages;
}

}  // namespace partita
