// Value: one serial run over the names of bytes.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/named_memory.h"
#include "runtime/plan/checker/names.h"
#include "runtime/plan/checker/next_step.h"
#include "runtime/plan/checker/output_coverage.h"
#include "runtime/plan/checker/ports.h"
#include "runtime/plan/checker/proof.h"
#include "runtime/plan/checker/shards.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

using Kind = Command::Kind;

class ValuePass {
 public:
  ValuePass(const EntryView& view, const Partners& partners, Findings& findings)
      : view_(view),
        partners_(partners),
        findings_(findings),
        ports_(view, findings),
        names_(view, ports_),
        memory_(view, names_),
        outputs_(view),
        messages_(partners.messages.size()) {}

  // Launch order respects every wait. In a plan without races all executions
  // leave the same bytes, so one symbolic run in launch order stands for all. A
  // byte's name says the value and the element that it is; a command may read
  // bytes only if their names are those that the graph asks for.
  void Run(const std::vector<IdRange<CommandId>>& nodes) {
    DefinePersistentValues(view_, names_, memory_);
    for (const IdRange<CommandId>& node : nodes) {
      if (findings_.full() || GaveUp(node.front())) return;
      // All ranks of a collective read before one of them writes.
      for (CommandId c : node) Reads(c);
      for (CommandId c : node) Writes(c);
    }
    outputs_.CheckCovered(findings_);
    CheckNextStep(view_, names_, memory_, findings_);
    (void)GaveUp(CommandId());  // in the last node, or at the end of the step
  }

 private:
  bool GaveUp(CommandId c) {
    if (!memory_.gave_up() && !names_.gave_up()) return false;
    findings_.Add(view_.Found(
        Rule::kWrongValue, c,
        "found too many fragments of values to follow; expected a plan whose "
        "ranges have fewer blocks"));
    return true;
  }

  void CheckRead(CommandId c, BufferId id, ValueId as,
                 const std::vector<NamedSegment>& asked) {
    if (names_.gave_up()) return;
    std::optional<Finding> finding =
        memory_.Mismatch(c, view_.buffer(id), asked);
    if (!finding.has_value()) return;
    finding->message =
        absl::StrCat(view_.Prefix(), view_.places.Text(c), " reads ",
                     view_.ValueText(as), " from ", finding->message);
    findings_.Add(*std::move(finding));
  }

  // Operand 1 of an accumulation is its result after the previous micro-batch.
  std::vector<NamedSegment> OfOperand(const Command& command, int i) {
    const Node& node = view_.graph().node(command.instance.node);
    if (i == static_cast<int>(node.operands.size())) {
      return SumAfter(command, view_.device_of(command),
                      MicroBatchId(command.instance.micro_batch.index - 1));
    }
    return names_.Of(node.operands[i], OperandSharding(node, i),
                     ShardIndex(command, &Participant::gives),
                     NumRanks(node.placement), view_.device_of(command),
                     command.instance.micro_batch);
  }

  // The index of the shard that a command works on. A rank of a collective may
  // supply one shard and take another.
  int ShardIndex(const Command& command, int Participant::*side) const {
    if (command.kind != Kind::kCollective) return command.instance.rank;
    return view_.collective(command).ranks[command.instance.rank].*side;
  }

  std::vector<NamedSegment> OfResult(const Command& command, int i,
                                     DeviceId device) {
    const Node& node = view_.graph().node(command.instance.node);
    if (node.op == &kAccumulate) {
      return SumAfter(command, device, command.instance.micro_batch);
    }
    return names_.Of(node.results[i], ResultSharding(node, i),
                     ShardIndex(command, &Participant::takes),
                     NumRanks(node.placement), device,
                     command.instance.micro_batch);
  }

  std::vector<NamedSegment> SumAfter(const Command& command, DeviceId device,
                                     MicroBatchId micro_batch) {
    return names_.OfSumAfter(view_.graph().view(command.instance.node),
                             command.instance.rank, device, micro_batch);
  }

  void Reads(CommandId c) {
    const Command& command = view_.commands[c];
    switch (command.kind) {
      case Kind::kKernel:
      case Kind::kCollective: {
        const Node& node = view_.graph().node(command.instance.node);
        for (size_t i = 0; i < command.operands.size(); ++i) {
          CheckRead(
              c, command.operands[i],
              i < node.operands.size() ? node.operands[i] : node.results[0],
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

  // Compares a copy of a whole instance with the value. Follows the names in a
  // copy of a slice; the reader of the combined slices compares them.
  void ReadMoved(CommandId c) {
    const Command& command = view_.commands[c];
    const Node& node = view_.graph().node(command.instance.node);
    const Buffer& source = view_.buffer(command.operands[0]);
    const int64_t whole =
        TypeOfShard(view_.graph().type(node.results[0]),
                    ResultSharding(node, 0), command.instance.rank,
                    NumRanks(node.placement))
            .num_bytes();
    if (source.range.size() == whole) {
      const std::string& name = node.placement.devices[command.instance.rank];
      CheckRead(c, command.operands[0], node.operands[0],
                OfResult(command, 0, names_.DeviceNamed(name)));
    }
    std::vector<NamedSegment> moved =
        SegmentsOf(c, source, /*must_be_defined=*/source.range.size() != whole);
    if (command.kind == Kind::kSend) {
      messages_[partners_.message[c]] = std::move(moved);
    } else {
      copied_ = std::move(moved);
    }
  }

  // The names in the buffer, without gaps.
  std::vector<NamedSegment> SegmentsOf(CommandId c, const Buffer& source,
                                       bool must_be_defined) {
    std::vector<NamedSegment> segments;
    for (const Content& segment : memory_.ContentOf(source)) {
      if (segment.name.has_value()) {
        segments.push_back({segment.begin, segment.size, *segment.name});
      } else if (must_be_defined) {
        Finding finding =
            memory_.Differs(Rule::kUndefined, c, source, segment.begin,
                            segment.end(), "nothing has defined them");
        finding.message = absl::StrCat(view_.Prefix(), view_.places.Text(c),
                                       " copies ", finding.message);
        findings_.Add(std::move(finding));
        break;
      }
    }
    return segments;
  }

  // The rank whose shard of a port's value a feed or fetch moves: the rank on
  // the stream's device.
  int RankOf(const Command& command, ValueId value) const {
    return std::max(0, ports_.RankOn(value, view_.device_of(command)));
  }

  std::vector<NamedSegment> OfPort(const Command& command, ValueId value) {
    return names_.Of(value, ProducedSharding(view_.graph(), value),
                     RankOf(command, value),
                     NumRanks(ProducedPlacement(view_.graph(), value)),
                     view_.device_of(command), command.instance.micro_batch);
  }

  void Fetch(CommandId c) {
    const Command& command = view_.commands[c];
    const ValueId value = view_.graph().outputs()[command.port];
    const std::vector<NamedSegment> asked = OfPort(command, value);
    CheckRead(c, command.operands[0], value, asked);
    if (asked.empty()) return;
    const bool sliced = ports_.output_sliced(command.port);
    if (names_.Varies(value) && !sliced && view_.micro_batches() > 1) {
      findings_.Add(view_.Found(
          Rule::kOutputs, c,
          absl::StrCat(view_.places.Text(c), " fetches ",
                       view_.ValueText(value),
                       ", which each micro-batch makes anew; expected an "
                       "output with room for all of them")));
    }
    outputs_.Fetched(
        c, sliced ? command.instance.micro_batch : kFirstMicroBatch,
        ShardOfWhole(view_.graph().type(value),
                     ProducedSharding(view_.graph(), value),
                     RankOf(command, value),
                     NumRanks(ProducedPlacement(view_.graph(), value))));
  }

  void Define(BufferId id, const std::vector<NamedSegment>& segments) {
    memory_.Define(view_.buffer(id), segments);
  }

  void Writes(CommandId c) {
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
        return Define(command.results[0],
                      OfPort(command, view_.graph().inputs()[command.port]));
      default:
        return;
    }
  }

  const EntryView& view_;
  const Partners& partners_;
  Findings& findings_;
  PortSlices ports_;
  Names names_;
  NamedMemory memory_;
  OutputCoverage outputs_;
  IdVector<MessageId, std::vector<NamedSegment>> messages_;  // in flight
  std::vector<NamedSegment> copied_;  // by the present copy
};

}  // namespace

void CheckValues(const EntryView& view, const Partners& partners,
                 const std::vector<IdRange<CommandId>>& nodes,
                 Findings& findings) {
  ValuePass(view, partners, findings).Run(nodes);
}

}  // namespace partita
