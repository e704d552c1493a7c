// Vector clocks and the last accesses of every byte, in one pass.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/id_vector.h"
#include "runtime/plan/checker/clock.h"
#include "runtime/plan/checker/interval_map.h"
#include "runtime/plan/checker/proof.h"
#include "runtime/plan/checker/reach.h"

namespace partita {
namespace {

using Kind = Command::Kind;

// More than a sensible plan needs; the proof of a plan that needs more is given
// up. These limits, and MaxVisits, bound time and memory for hostile plans.
constexpr int64_t kMaxClockVisits = int64_t{1} << 22;
constexpr int64_t kClockVisitsOfCommand = 128;
constexpr int64_t kMaxClockNodes = int64_t{1} << 20;
constexpr int64_t kClockNodesOfCommand = 8;

// One access by a command. `position` counts the commands of its stream, from
// 1, over the steps of the pass.
struct Access {
  CommandId command;
  int step = 0;
  StreamId stream;
  int64_t position = 0;
};

// The end of a command: what its stream knew then, and the position of the
// command itself.
struct End {
  Clock known;
  StreamId stream;
  int64_t position = 0;
};

// The start clocks of one collective's sources.
struct Starts {
  const Reach* reach;
  std::vector<Clock> clocks;
  int left = 0;  // commands that have not joined these clocks yet
};

// Happens-before (Lamport 1978) by vector clocks (Fidge 1988, Mattern 1989):
// streams take the place of processes, and waits for events that of messages.
// A byte needs no full history. If all accesses so far were ordered, the last
// write follows everything before it, so a later access that follows the last
// write follows all. Of reads, the last one of each stream is enough. This is
// what FastTrack does (Flanagan and Freund 2009): an access is a stream and a
// position there, and only streams have whole vector clocks.

// The accesses of a byte that later ones are compared with.
struct LastAccesses {
  void Shift(int64_t) {}
  Access write;
  std::vector<Access> reads;  // since the last write, one for each stream
};

class RacePass {
 public:
  RacePass(const EntryView& view, const Partners& partners, Findings& findings)
      : view_(view),
        partners_(partners),
        findings_(findings),
        known_(view.entry->streams.size(), Clock(nodes_)),
        issued_(view.entry->streams.size()),
        arenas_(view.plan->devices.size()),
        events_(view.entry->num_events, End{Clock(nodes_)}),
        waits_(view.entry->num_events),
        sends_(partners.messages.size(), End{Clock(nodes_)}),
        most_visits_(MaxVisits(view)) {
    for (const CollectiveCommands& collective : partners.collectives) {
      first_commands_.Add(*absl::c_min_element(collective.by_rank));
      starts_.Add({ReachOf(view.commands[collective.by_rank[0]]), {}});
    }
    for (const Command& command : view.commands) {
      if (command.kind == Kind::kWait) ++waits_[command.event];
    }
  }

  void Run() {
    // Clocks and accesses of the first step stay while the second one runs, so
    // races between a step and the next are found like those within one.
    const int steps = view_.entry->depth > 1 ? 2 : 1;
    for (step_ = 0; step_ < steps; ++step_) {
      waits_left_ = waits_;
      // A rank of a collective takes over the start clocks of others, so
      // compute these first.
      for (CommandId c : view_.commands.ids()) {
        if (GaveUp(c)) break;
        const CollectiveId collective = partners_.collective[c];
        if (collective.valid() && c == first_commands_[collective]) {
          CollectStartClocks(collective);
        }
        Issue(c);
      }
    }
    (void)GaveUp(CommandId());  // in the last command
  }

 private:
  bool GaveUp(CommandId c) {
    if (findings_.full()) return true;
    const int64_t commands = static_cast<int64_t>(view_.commands.size());
    if (visits_ <= most_visits_ &&
        nodes_.visited() <=
            kMaxClockVisits + kClockVisitsOfCommand * commands &&
        nodes_.live() <= kMaxClockNodes + kClockNodesOfCommand * commands) {
      return false;
    }
    findings_.Add(view_.Found(
        Rule::kReadAfterWrite, c,
        "found too many streams and fragments of ranges to prove their order; "
        "expected a plan with fewer"));
    return true;
  }

  const Reach* ReachOf(const Command& command) {
    const NodeId id = command.instance.node;
    auto& reach = reaches_[id];
    if (reach == nullptr) {
      reach = std::make_unique<Reach>(view_.graph().view(id),
                                      view_.collective(command));
    }
    return reach.get();
  }

  // Joins, for each source, what has ended before its ranks start.
  void CollectStartClocks(CollectiveId collective) {
    Starts& starts = starts_[collective];
    starts.clocks.assign(starts.reach->num_sources(), Clock(nodes_));
    for (CommandId c : partners_.collectives[collective].by_rank) {
      const Command& command = view_.commands[c];
      const int source = starts.reach->SourceOf(command.instance.rank);
      if (source < 0) continue;
      const StreamId stream = command.stream;
      starts.clocks[source].Join(known_[stream]);
      starts.clocks[source].Advance(stream.index, issued_[stream]);
    }
    starts.left =
        static_cast<int>(partners_.collectives[collective].by_rank.size());
  }

  void JoinStartClocks(const Command& command, Starts& starts,
                       StreamId stream) {
    const Reach::Sources from = starts.reach->OfTaker(command.instance.rank);
    for (int source = from.begin; source < from.end; ++source) {
      known_[stream].Join(starts.clocks[source]);
    }
    if (--starts.left == 0) starts.clocks.clear();
  }

  // Knowledge of a command's end includes what its stream knew then.
  void LearnEnd(const End& end, StreamId stream) {
    // What the stream knows already teaches it nothing, and costs no join.
    if (known_[stream].Ended(end.stream.index) >= end.position) return;
    known_[stream].Join(end.known);
    known_[stream].Advance(end.stream.index, end.position);
  }

  // Records the accesses with the clock of the command's start, then joins what
  // its end learns.
  void Issue(CommandId c) {
    const Command& command = view_.commands[c];
    const StreamId stream = command.stream;
    // Accesses come before Learn: a wait or a collective may order only what
    // comes after it in its stream.
    const Access access{c, step_, stream, issued_[stream] + 1};
    for (BufferId id : command.operands) AccessBuffer(access, id, false);
    for (BufferId id : command.results) AccessBuffer(access, id, true);
    if (command.workspace.valid()) {
      AccessBuffer(access, command.workspace, true);
    }
    if (command.kind == Kind::kSend) {
      sends_[partners_.message[c]] = {known_[stream], stream, issued_[stream]};
    }
    ++issued_[stream];
    Learn(c, command, stream);
  }

  void Learn(CommandId c, const Command& command, StreamId stream) {
    switch (command.kind) {
      case Kind::kRecord: {
        const EventId event = command.event;
        // Nobody waits for this record any more, so its clock need not be kept.
        if (waits_left_[event] == 0) return;
        events_[event] = {known_[stream], stream, issued_[stream]};
        return;
      }
      case Kind::kWait: {
        End& end = events_[command.event];
        LearnEnd(end, stream);
        if (--waits_left_[command.event] == 0) end.known.Clear();
        return;
      }
      case Kind::kRecv: {
        End& before_send = sends_[partners_.message[c]];
        LearnEnd(before_send, stream);
        before_send.known.Clear();
        return;
      }
      case Kind::kCollective:
        return JoinStartClocks(command, starts_[partners_.collective[c]],
                               stream);
      default:
        return;
    }
  }

  void AccessBuffer(const Access& access, BufferId id, bool write) {
    const Buffer& buffer = view_.buffer(id);
    const int64_t base = PartBegin(view_.device(buffer.device), buffer, step_);
    ForEachBlock(buffer.range, base, [&](ByteSpan block) {
      if (visits_ > most_visits_) return;
      if (write) {
        Write(access, id, block);
      } else {
        Read(access, id, block);
      }
    });
  }

  bool EndedBefore(const Access& earlier, const Access& now) const {
    // A stream ends its commands in order.
    if (!earlier.command.valid() || earlier.stream == now.stream) return true;
    return known_[now.stream].Ended(earlier.stream.index) >= earlier.position;
  }

  void Read(const Access& access, BufferId id, ByteSpan block) {
    arenas_[view_.buffer(id).device].Update(
        block.begin, block.end, {},
        [&](int64_t begin, int64_t end, LastAccesses& last) {
          visits_ += 1 + last.reads.size();
          if (!EndedBefore(last.write, access)) {
            Report(Rule::kReadAfterWrite, access, last.write, id, {begin, end});
          }
          // A later read of the same stream follows the earlier one, so it
          // takes its place.
          for (Access& read : last.reads) {
            if (read.stream == access.stream) {
              read = access;
              return;
            }
          }
          last.reads.push_back(access);
        });
  }

  void Write(const Access& access, BufferId id, ByteSpan block) {
    auto& arena = arenas_[view_.buffer(id).device];
    arena.ForEach(block.begin, block.end,
                  [&](int64_t begin, int64_t end, const LastAccesses* last) {
                    ++visits_;
                    if (last == nullptr) return true;
                    CheckWrite(access, id, {begin, end}, *last);
                    return true;
                  });
    // A write replaces the history: earlier accesses are ordered before it, or
    // were reported.
    LastAccesses now;
    now.write = access;
    arena.Set(block.begin, block.end, std::move(now));
  }

  void CheckWrite(const Access& access, BufferId id, ByteSpan bytes,
                  const LastAccesses& last) {
    visits_ += last.reads.size();
    if (!EndedBefore(last.write, access)) {
      Report(Rule::kWriteAfterWrite, access, last.write, id, bytes);
    }
    for (const Access& read : last.reads) {
      if (!EndedBefore(read, access)) {
        Report(Rule::kWriteAfterRead, access, read, id, bytes);
      }
    }
  }

  void Report(Rule rule, const Access& access, const Access& earlier,
              BufferId id, ByteSpan bytes) {
    if (findings_.full()) return;
    const bool reads = rule == Rule::kReadAfterWrite;
    const absl::string_view next_step =
        access.step != earlier.step ? " of the next step" : "";
    Finding finding = view_.Found(
        rule, access.command,
        absl::StrCat(view_.places.Text(access.command), next_step,
                     reads ? " reads " : " writes ", view_.BufferText(id), " (",
                     view_.BytesText(view_.buffer(id), bytes, access.step),
                     ") while ", view_.places.Text(earlier.command),
                     " may still ",
                     rule == Rule::kWriteAfterRead ? "read" : "write", " it\n",
                     Remedy(access, earlier)));
    finding.other = earlier.command;
    finding.device = view_.buffer(id).device;
    finding.bytes = bytes;
    findings_.Add(std::move(finding));
  }

  std::string Remedy(const Access& access, const Access& earlier) const {
    const StreamId first = view_.commands[earlier.command].stream;
    const StreamId second = view_.commands[access.command].stream;
    return absl::StrCat("  no event orders ", view_.StreamText(first),
                        " before ", view_.StreamText(second), "; ",
                        access.step != earlier.step
                            ? "lower the depth, or keep the steps apart by an "
                              "event"
                            : EventFor(earlier.command, access.command));
  }

  // The event that makes `second` wait for `first`, as text in terms of its
  // program.
  std::string EventFor(CommandId first, CommandId second) const {
    const std::string before =
        absl::StrCat(" before ", view_.places.Text(second));
    for (CommandId c(first.index + 1); c < second; ++c.index) {
      const Command& record = view_.commands[c];
      if (record.kind != Kind::kRecord ||
          record.stream != view_.commands[first].stream) {
        continue;
      }
      const auto name = view_.places.EventBeside(second, record.event);
      return name.has_value()
                 ? absl::StrCat("add `wait ", *name, "`", before)
                 : absl::StrCat("give its program another event slot, bind ev",
                                record.event.index,
                                " to it there, and wait for it", before);
    }
    return absl::StrCat("record an event after ", view_.places.Text(first),
                        " and wait for it", before);
  }

  const EntryView& view_;
  const Partners& partners_;
  Findings& findings_;
  int step_ = 0;
  ClockNodes nodes_;
  IdVector<StreamId, Clock> known_;  // without the stream's own commands
  IdVector<StreamId, int64_t> issued_;
  IdVector<DeviceId, IntervalMap<LastAccesses>> arenas_;
  absl::flat_hash_map<NodeId, std::unique_ptr<Reach>> reaches_;
  IdVector<EventId, End> events_;
  IdVector<EventId, int> waits_;
  IdVector<EventId, int> waits_left_;  // of this step
  IdVector<MessageId, End> sends_;     // the end of what precedes each
  IdVector<CollectiveId, Starts> starts_;
  IdVector<CollectiveId, CommandId> first_commands_;
  const int64_t most_visits_;
  int64_t visits_ = 0;
};

}  // namespace

void CheckRaces(const EntryView& view, const Partners& partners,
                Findings& findings) {
  RacePass(view, partners, findings).Run();
}

}  // namespace partita
