// Value: one serial run over the names of bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/value.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/collective.h"
#include "runtime/plan/checker/interval_map.h"
#include "runtime/plan/checker/names.h"
#include "runtime/plan/checker/outputs.h"
#include "runtime/plan/checker/pieces.h"
#include "runtime/plan/checker/ports.h"

namespace partita {
namespace {

using Kind = Command::Kind;

constexpr int64_t kMaxVisits = int64_t{1} << 22;
constexpr int64_t kVisitsOfCommand = 64;

// Bytes as they lie in a range: names, or nothing where they are undefined.
struct Content {
  int64_t begin;
  int64_t size;
  std::optional<Name> name;
};

class ValuePass {
 public:
  ValuePass(const EntryView& view, const Partners& partners, Findings& findings)
      : view_(view),
        partners_(partners),
        findings_(findings),
        ports_(view, findings),
        names_(view, ports_),
        outputs_(view),
        arenas_(view.plan->devices.size()),
        messages_(partners.messages.size()),
        most_visits_(kMaxVisits + kVisitsOfCommand * view.commands.size()) {
    for (const VariableUpdate& update : view.graph().updates()) {
      updates_[update.variable] = &update;
    }
  }

  void Run(const std::vector<LaunchNode>& nodes) {
    SeedPersistent();
    for (const LaunchNode& node : nodes) {
      if (findings_.full() || GaveUp(node.begin)) return;
      for (int c = node.begin; c < node.end; ++c) Reads(c);
      for (int c = node.begin; c < node.end; ++c) Writes(c);
    }
    outputs_.CheckCovered(findings_);
    CheckNextStep();
    (void)GaveUp(-1);  // in the last node, or at the end of the step
  }

 private:
  bool GaveUp(int c) {
    if (visits_ <= most_visits_) return false;
    findings_.Add(view_.Found(
        Rule::kWrongValue, c,
        "found too many pieces of values to follow; expected a plan whose "
        "ranges are less divided"));
    return true;
  }

  // --- the memory ---

  int64_t Base(const Buffer& buffer) const {
    return PartBegin(view_.device(buffer.device), buffer, 0);
  }

  void Define(BufferId id, const std::vector<NamedPiece>& pieces) {
    const Buffer& buffer = view_.buffer(id);
    IntervalMap<Name>& arena = arenas_[buffer.device.index];
    size_t p = 0;
    int64_t at = 0;  // of the range's own bytes, before the present block
    ForEachBlock(buffer.range, Base(buffer), [&](ByteSpan block) {
      const int64_t size = block.end - block.begin;
      arena.Erase(block.begin, block.end);
      while (p < pieces.size() && pieces[p].begin < at + size) {
        visits_ += 4;  // a write costs more than a look
        const int64_t from = std::max(at, pieces[p].begin);
        const int64_t to =
            std::min(at + size, pieces[p].begin + pieces[p].size);
        Name name = pieces[p].name;
        name.Shift(from - pieces[p].begin);
        arena.Set(block.begin + from - at, block.begin + to - at, name);
        if (pieces[p].begin + pieces[p].size > at + size) break;
        ++p;
      }
      at += size;
    });
  }

  std::vector<Content> ContentOf(const Buffer& buffer) {
    std::vector<Content> content;
    int64_t at = 0;
    ForEachBlock(buffer.range, Base(buffer), [&](ByteSpan block) {
      if (visits_ > most_visits_) return;
      arenas_[buffer.device.index].ForEach(
          block.begin, block.end,
          [&](int64_t begin, int64_t end, const Name* name) {
            ++visits_;
            Content piece{at + begin - block.begin, end - begin, std::nullopt};
            if (name != nullptr) piece.name = *name;
            content.push_back(piece);
            return true;
          });
      at += block.end - block.begin;
    });
    return content;
  }

  // --- reading ---

  // Compares, from byte `offset` of the range on, what it holds with `asked`.
  // Returns the first pair that differs as text, or nothing.
  std::optional<Finding> Mismatch(int c, const Buffer& buffer,
                                  const std::vector<NamedPiece>& asked) {
    const std::vector<Content> content = ContentOf(buffer);
    size_t a = 0;
    for (const Content& piece : content) {
      int64_t at = piece.begin;
      while (at < piece.begin + piece.size) {
        if (a < asked.size() && asked[a].begin + asked[a].size <= at) {
          ++a;
          continue;
        }
        if (!piece.name.has_value()) {
          return Differs(Rule::kUndefined, c, buffer, at,
                         piece.begin + piece.size, "nothing has defined them");
        }
        Name held = *piece.name;
        held.Shift(at - piece.begin);
        if (a == asked.size()) {
          return Differs(Rule::kWrongValue, c, buffer, at,
                         piece.begin + piece.size,
                         "the graph does not say what these are");
        }
        const int64_t end =
            std::min(piece.begin + piece.size, asked[a].begin + asked[a].size);
        Name wanted = asked[a].name;
        wanted.Shift(at - asked[a].begin);
        if (!held.Answers(wanted)) {
          return Differs(
              Rule::kWrongValue, c, buffer, at, end,
              absl::StrCat("they hold ", names_.Text(held, end - at),
                           " and not ", names_.Text(wanted, end - at)));
        }
        at = end;
      }
    }
    return std::nullopt;
  }

  Finding Differs(Rule rule, int c, const Buffer& buffer, int64_t begin,
                  int64_t end, absl::string_view what) const {
    const int64_t base = Base(buffer) + buffer.range.offset;
    Finding finding;
    finding.rule = rule;
    finding.entry = view_.index;
    finding.command = c;
    finding.device = buffer.device;
    finding.bytes = {base + begin, base + end};
    finding.message = absl::StrCat(view_.device(buffer.device).traits.name,
                                   " !", buffer.name, " (bytes ", base + begin,
                                   "..", base + end, "), but ", what);
    return finding;
  }

  void CheckRead(int c, BufferId id, ValueId as,
                 const std::vector<NamedPiece>& asked) {
    std::optional<Finding> finding = Mismatch(c, view_.buffer(id), asked);
    if (!finding.has_value()) return;
    finding->message =
        absl::StrCat(view_.Prefix(), "command ", c, " reads ",
                     view_.ValueText(as), " from ", finding->message);
    findings_.Add(*std::move(finding));
  }

  std::vector<NamedPiece> OfOperand(const Command& command, int i) const {
    const Node& node = view_.graph().node(command.instance.node);
    return names_.Of(node.operands[i], OperandSharding(node, i),
                     command.instance.member, NumMembers(node.placement),
                     view_.device_of(command), command.instance.micro_batch);
  }

  std::vector<NamedPiece> OfResult(const Command& command, int i,
                                   DeviceId device) const {
    const Node& node = view_.graph().node(command.instance.node);
    return names_.Of(node.results[i], ResultSharding(node, i),
                     command.instance.member, NumMembers(node.placement),
                     device, command.instance.micro_batch);
  }

  void Reads(int c) {
    const Command& command = view_.commands[c];
    switch (command.kind) {
      case Kind::kKernel:
      case Kind::kCollective: {
        const Node& node = view_.graph().node(command.instance.node);
        for (size_t i = 0; i < command.operands.size(); ++i) {
          CheckRead(c, command.operands[i], node.operands[i],
                    OfOperand(command, static_cast<int>(i)));
        }
        return;
      }
      case Kind::kCopy:
      case Kind::kSend:
        return ReadMoved(c);
      case Kind::kFetch:
        return Fetch(c);
      default:
        return;
    }
  }

  // A copy of the whole instance is held against the value; a copy of a part of
  // it is followed, and whoever reads the parts put together will see.
  void ReadMoved(int c) {
    const Command& command = view_.commands[c];
    const Node& node = view_.graph().node(command.instance.node);
    const Buffer& source = view_.buffer(command.operands[0]);
    const int64_t whole =
        PieceType(view_.graph().type(node.results[0]), ResultSharding(node, 0),
                  command.instance.member, NumMembers(node.placement))
            .num_bytes();
    if (source.range.size() == whole) {
      const std::string& name = node.placement.devices[command.instance.member];
      CheckRead(c, command.operands[0], node.operands[0],
                OfResult(command, 0, names_.DeviceNamed(name)));
    }
    std::vector<NamedPiece> moved;
    for (const Content& piece : ContentOf(source)) {
      if (piece.name.has_value()) {
        moved.push_back({piece.begin, piece.size, *piece.name});
      } else if (source.range.size() != whole) {
        Finding finding =
            Differs(Rule::kUndefined, c, source, piece.begin,
                    piece.begin + piece.size, "nothing has defined them");
        finding.message = absl::StrCat(view_.Prefix(), "command ", c,
                                       " copies ", finding.message);
        findings_.Add(std::move(finding));
        break;
      }
    }
    if (command.kind == Kind::kSend) {
      messages_[partners_.message[c]] = std::move(moved);
    } else {
      copied_ = std::move(moved);
    }
  }

  void Fetch(int c) {
    const Command& command = view_.commands[c];
    const ValueId value = view_.graph().outputs()[command.port];
    const DeviceId device = view_.device_of(command);
    const Sharding sharding = ProducedSharding(view_.graph(), value);
    const int members = NumMembers(ProducedPlacement(view_.graph(), value));
    const int member = std::max(0, ports_.MemberOn(value, device));
    const std::vector<NamedPiece> asked = names_.Of(
        value, sharding, member, members, device, command.instance.micro_batch);
    CheckRead(c, command.operands[0], value, asked);
    if (asked.empty()) return;
    const bool sliced = ports_.output_sliced(command.port);
    if (names_.Varies(value) && !sliced && view_.micro_batches() > 1) {
      findings_.Add(view_.Found(
          Rule::kOutputs, c,
          absl::StrCat("command ", c, " fetches ", view_.ValueText(value),
                       ", which each micro-batch makes anew; expected an "
                       "output with room for all of them")));
    }
    outputs_.Fetched(
        c, sliced ? command.instance.micro_batch : 0,
        PieceOfWhole(view_.graph().type(value), sharding, member, members));
  }

  // --- writing ---

  void Writes(int c) {
    const Command& command = view_.commands[c];
    switch (command.kind) {
      case Kind::kKernel:
      case Kind::kCollective:
        if (command.workspace.valid()) Define(command.workspace, {});
        for (size_t i = 0; i < command.results.size(); ++i) {
          Define(command.results[i], OfResult(command, static_cast<int>(i),
                                              view_.device_of(command)));
        }
        return;
      case Kind::kCopy:
        return Define(command.results[0], copied_);
      case Kind::kRecv:
        return Define(command.results[0], messages_[partners_.message[c]]);
      case Kind::kFeed:
        return Define(
            command.results[0],
            names_.Of(view_.graph().inputs()[command.port], {}, 0, 1,
                      view_.device_of(command), command.instance.micro_batch));
      default:
        return;
    }
  }

  // --- from step to step ---

  void SeedPersistent() {
    for (const Entry& entry : view_.plan->entries) {
      for (const PersistentValue& value : entry.persistent) {
        DefineAt(entry.buffers[value.buffer.index],
                 names_.OfPersistent(entry, value));
      }
    }
  }

  // Persistent ranges are single blocks.
  void DefineAt(const Buffer& buffer, const std::vector<NamedPiece>& pieces) {
    for (const NamedPiece& piece : pieces) {
      const int64_t begin = buffer.range.offset + piece.begin;
      arenas_[buffer.device.index].Set(begin, begin + piece.size, piece.name);
    }
  }

  const VariableUpdate* UpdateOf(const OpView& node) const {
    if (!node.is(kVariable)) return nullptr;
    auto it = updates_.find(node.attr_string("name"));
    return it == updates_.end() ? nullptr : it->second;
  }

  // What a persistent range must hold when the step ends.
  std::vector<NamedPiece> NextStep(const Entry& entry,
                                   const PersistentValue& value) {
    const OpView node = entry.graph->view(value.node);
    const VariableUpdate* update = UpdateOf(node);
    if (update == nullptr) return names_.OfPersistent(entry, value);
    if (view_.graph().type(update->value) != node.result_type(0)) return {};
    return names_.Of(update->value, ResultSharding(node.node(), 0),
                     value.member, NumMembers(node.node().placement),
                     entry.buffers[value.buffer.index].device,
                     view_.micro_batches() - 1);
  }

  void CheckNextStep() {
    std::vector<bool> kept(view_.graph().updates().size());
    for (const Entry& entry : view_.plan->entries) {
      for (const PersistentValue& value : entry.persistent) {
        const VariableUpdate* update = UpdateOf(entry.graph->view(value.node));
        if (update != nullptr) {
          kept[update - view_.graph().updates().data()] = true;
        }
        std::optional<Finding> finding = Mismatch(
            -1, entry.buffers[value.buffer.index], NextStep(entry, value));
        if (!finding.has_value()) continue;
        finding->rule = Rule::kNextStep;
        finding->message = absl::StrCat(
            view_.Prefix(), "the next step finds its variable or constant in ",
            finding->message);
        findings_.Add(*std::move(finding));
      }
    }
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) continue;
      findings_.Add(view_.Found(
          Rule::kNextStep, -1,
          absl::StrCat("the update of variable ",
                       view_.graph().updates()[i].variable,
                       " is kept in no persistent range, or made twice")));
    }
  }

  const EntryView& view_;
  const Partners& partners_;
  Findings& findings_;
  PortSlices ports_;
  Names names_;
  OutputCoverage outputs_;
  std::vector<IntervalMap<Name>> arenas_;
  std::vector<std::vector<NamedPiece>> messages_;  // under way, by message
  std::vector<NamedPiece> copied_;                 // by the present copy
  absl::flat_hash_map<std::string, const VariableUpdate*> updates_;
  const int64_t most_visits_;
  int64_t visits_ = 0;
};

}  // namespace

void CheckValues(const EntryView& view, const Partners& partners,
                 const std::vector<LaunchNode>& nodes, Findings& findings) {
  ValuePass(view, partners, findings).Run(nodes);
}

}  // namespace partita
