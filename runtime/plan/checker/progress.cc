// Progress: every wait is for an earlier command in launch order.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/proof.h"

namespace partita {
namespace {

void Add(const EntryView& view, Rule rule, CommandId command, CommandId other,
         absl::string_view message, Findings& findings) {
  Finding finding = view.Found(rule, command, message);
  finding.other = other;
  findings.Add(std::move(finding));
}

// A deadlock needs a cycle of waits (Coffman, Elphick and Shoshani 1971). If
// every command waits only for earlier ones of one list, there is no cycle.
// The list is the launch order, so no search is needed.
void CheckWaits(const EntryView& view, const Partners& partners,
                Findings& findings) {
  for (CommandId c : view.commands.ids()) {
    const Command& command = view.commands[c];
    if (command.kind != Command::Kind::kWait) continue;
    const CommandId recorder = partners.recorder[command.event];
    if (recorder < c) continue;
    Add(view, Rule::kEventForward, c, recorder,
        absl::StrCat(view.places.Text(c), " waits for ",
                     view.places.EventText(c), ", which ",
                     view.places.Text(recorder),
                     " records later in launch order; an executor that runs "
                     "both in order "
                     "waits for ever; launch the record first"),
        findings);
  }
}

// `messages` of one channel are adjacent in Partners::messages, by number.
void CheckMessages(const EntryView& view, const Partners& partners,
                   Findings& findings) {
  for (MessageId id : partners.messages.ids()) {
    const Message& message = partners.messages[id];
    const int capacity = view.entry->channels[message.channel.index].capacity;
    if (capacity == 0) continue;
    if (message.recv < message.send) {
      Add(view, Rule::kMessageForward, message.recv, message.send,
          absl::StrCat(view.places.Text(message.recv), " receives message ",
                       message.number, " of channel ", message.channel.index,
                       ", which ", view.places.Text(message.send),
                       " sends later in launch order; launch the send first"),
          findings);
    }
    if (message.number < capacity) continue;
    // The slot of a message is free once the message `capacity` before it was
    // received.
    const Message& before = partners.messages[MessageId(id.index - capacity)];
    if (before.recv < message.send) continue;
    Add(view, Rule::kCapacity, message.send, before.recv,
        absl::StrCat(view.places.Text(message.send), " sends message ",
                     message.number, " of channel ", message.channel.index,
                     ", which has room for ", capacity, ", before ",
                     view.places.Text(before.recv), " has received message ",
                     before.number,
                     "; both ends wait for ever; receive it first, or raise "
                     "the channel's capacity"),
        findings);
  }
}

}  // namespace

void CheckProgress(const EntryView& view, const Partners& partners,
                   Findings& findings) {
  CheckWaits(view, partners, findings);
  CheckMessages(view, partners, findings);
}

}  // namespace partita
