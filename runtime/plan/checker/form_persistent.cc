// Form of persistent ranges: their contents and devices, and that they do not
// overlap.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/checker/shards.h"

namespace partita {
namespace {

// A persistent range and what identifies its content.
struct Held {
  DeviceId device;
  Range range;
  std::string content;
  std::string text;
};

// Shards whose content was compared already: entries share them.
using ComparedShards = absl::flat_hash_set<std::string>;

class PersistentForm {
 public:
  PersistentForm(const EntryView& view, ComparedShards& compared,
                 Findings& findings)
      : view_(view),
        literals_(view_.plan->module.literals()),
        compared_(compared),
        findings_(findings) {}

  void Check(const PersistentValue& value, std::vector<Held>& held) {
    const std::string fault = FaultInIds(value);
    if (!fault.empty()) return Add(value, fault);
    const Buffer& buffer = view_.buffer(value.buffer);
    const OpView node = view_.graph().view(value.node);
    const Placement& placement = node.node().placement;
    const TensorType shard =
        TypeOfShard(node.result_type(0), ResultSharding(node.node(), 0),
                    value.rank, NumRanks(placement));
    if (placement.devices[value.rank] !=
        view_.device(buffer.device).traits.name) {
      Add(value,
          absl::StrCat("found it on ", view_.device(buffer.device).traits.name,
                       "; expected ", view_.NodeText(value.node), " on ",
                       placement.devices[value.rank],
                       ", where the graph places it; give it a buffer there"));
    }
    if (buffer.range.size() != shard.num_bytes() ||
        NumBlocks(buffer.range) > 1) {
      Add(value,
          absl::StrCat("found ", buffer.range.size(),
                       " bytes; expected one block of the ", shard.num_bytes(),
                       " of ", shard.ToString(), "; change the buffer's size"));
    }
    CheckInitial(value, node);
    held.push_back({buffer.device, buffer.range, ContentKey(value, node),
                    view_.BufferText(value.buffer)});
  }

 private:
  void Add(const PersistentValue& value, absl::string_view what) {
    const bool named =
        InBounds(value.buffer.index, view_.entry->buffers.size());
    findings_.Add(view_.Found(
        Rule::kPersistent, absl::StrCat("persistent value ",
                                        named ? view_.BufferText(value.buffer)
                                              : "in an unknown buffer",
                                        ": ", what)));
  }

  // "", or the fault in the first id of the value that does not exist.
  std::string FaultInIds(const PersistentValue& value) const {
    const size_t buffers = view_.entry->buffers.size();
    const size_t literals = static_cast<size_t>(literals_.size());
    if (!InBounds(value.buffer.index, buffers)) {
      return NoSuch("buffer", value.buffer.index, buffers);
    }
    if (!view_.buffer(value.buffer).persistent) {
      return "found a buffer of the step-local part; expected one of the "
             "persistent part, as others are used again; move it";
    }
    const std::string fault = FaultInNode(value);
    if (!fault.empty() || InBounds(value.initial.index, literals)) return fault;
    return NoSuch("literal", value.initial.index, literals);
  }

  std::string FaultInNode(const PersistentValue& value) const {
    const Graph& graph = view_.graph();
    const auto nodes = static_cast<size_t>(graph.node_id_bound());
    if (!InBounds(value.node.index, nodes) || !graph.alive(value.node)) {
      return NoSuch("node", value.node.index, graph.order().size());
    }
    const OpView node = graph.view(value.node);
    if (!node.is(kConstant) && !node.is(kVariable)) {
      return absl::StrCat("found ", view_.NodeText(value.node),
                          "; expected a constant or variable, as no other "
                          "value outlasts a step; name one");
    }
    const size_t ranks = node.node().placement.devices.size();
    if (InBounds(value.rank, ranks)) return "";
    return absl::StrCat("found rank ", value.rank, " of ",
                        view_.NodeText(value.node), ", which is on ", ranks,
                        ranks == 1 ? " device" : " devices",
                        "; expected a smaller number; change the rank");
  }

  static std::string NoSuch(absl::string_view what, int32_t id, size_t count) {
    return absl::StrCat("found ", what, " ", id, "; expected one of the ",
                        count, " that exist; name another");
  }

  // The initial bytes are those of the constant, or of the variable's initial
  // value.
  void CheckInitial(const PersistentValue& value, const OpView& node) {
    std::optional<LiteralId> whole;
    if (node.is(kConstant)) {
      whole = node.attr_literal("value");
    } else if (const Variable* variable =
                   view_.plan->module.FindVariable(node.attr_string("name"))) {
      whole = variable->initial;
    }
    if (!whole.has_value() || !whole->valid() ||
        whole->index >= literals_.size()) {
      return Add(value, absl::StrCat("found ", view_.NodeText(value.node),
                                     " of a variable that the module does not "
                                     "have; expected one that it declares; "
                                     "declare it"));
    }
    if (ResultSharding(node.node(), 0).kind != Sharding::Kind::kReplicated) {
      return CheckInitialShard(value, node, *whole);
    }
    if (SameLiteral(*whole, value.initial)) return;
    Add(value, absl::StrCat("found other initial bytes than those of ",
                            view_.NodeText(value.node),
                            "; expected the same; leave the literal out"));
  }

  void CheckInitialShard(const PersistentValue& value, const OpView& node,
                         LiteralId whole) {
    if (!literals_.has_bytes(whole)) {
      return Add(
          value,
          absl::StrCat(
              "found a shard of ", view_.NodeText(value.node),
              " without the bytes of the whole value in this text; expected "
              "them, to compare the shard; check the plan as a file"));
    }
    std::string key = absl::StrCat(whole.index, " in ", value.initial.index,
                                   " ", ContentKey(value, node));
    if (compared_.contains(key)) return;
    if (HoldsShard(node, ResultSharding(node.node(), 0), value, whole)) {
      compared_.insert(std::move(key));
      return;
    }
    Add(value,
        absl::StrCat("found other initial bytes than those of rank ",
                     value.rank, " of ", view_.NodeText(value.node),
                     "; expected its shard of them; name the shard's literal"));
  }

  bool SameLiteral(LiteralId a, LiteralId b) const {
    return a == b || (literals_.type(a) == literals_.type(b) &&
                      literals_.hash(a) == literals_.hash(b));
  }

  bool HoldsShard(const OpView& node, const Sharding& sharding,
                  const PersistentValue& value, LiteralId whole) const {
    const TensorType& type = node.result_type(0);
    const int ranks = NumRanks(node.node().placement);
    if (sharding.kind != Sharding::Kind::kSplit ||
        literals_.type(whole) != type || !type.layout.is_row_major() ||
        literals_.type(value.initial) !=
            TypeOfShard(type, sharding, value.rank, ranks)) {
      return false;
    }
    const Range shard = ShardOfWhole(type, sharding, value.rank, ranks);
    const absl::Span<const std::byte> bytes = literals_.byte_span(whole);
    if (!literals_.has_bytes(value.initial)) {
      return HashOf(bytes, shard) == literals_.hash(value.initial);
    }
    const auto to = literals_.byte_span(value.initial);
    int64_t at = 0;
    bool same = true;
    ForEachBlock(shard, 0, [&](ByteSpan block) {
      const int64_t size = block.end - block.begin;
      same = same &&
             std::memcmp(bytes.data() + block.begin, to.data() + at, size) == 0;
      at += size;
    });
    return same;
  }

  // A plan in text form has no more than the hash of a shard.
  static ContentHash HashOf(absl::Span<const std::byte> whole,
                            const Range& shard) {
    std::vector<std::byte> bytes;
    bytes.reserve(shard.size());
    ForEachBlock(shard, 0, [&](ByteSpan block) {
      bytes.insert(bytes.end(), whole.begin() + block.begin,
                   whole.begin() + block.end);
    });
    return HashBytes(bytes);
  }

  std::string ContentKey(const PersistentValue& value,
                         const OpView& node) const {
    const Sharding sharding = ResultSharding(node.node(), 0);
    std::string key = node.result_type(0).ToString();
    if (sharding.kind != Sharding::Kind::kReplicated) {
      absl::StrAppend(&key, " rank ", value.rank, " of ",
                      NumRanks(node.node().placement), " along ", sharding.dim,
                      " by ", sharding.unit);
    }
    return node.is(kVariable)
               ? absl::StrCat("variable ", node.attr_string("name"), " ", key)
               : absl::StrCat("literal ",
                              literals_.hash(value.initial).ToString(), " ",
                              key);
  }

  const EntryView& view_;
  const LiteralPool& literals_;
  ComparedShards& compared_;
  Findings& findings_;
};

void CheckOverlap(const Plan& plan, std::vector<Held> held,
                  Findings& findings) {
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
    return std::pair(a.device.index, a.range.offset) <
           std::pair(b.device.index, b.range.offset);
  });
  const Held* furthest = nullptr;
  for (const Held& next : held) {
    if (next.range.empty()) continue;
    const bool overlaps = furthest != nullptr &&
                          furthest->device == next.device &&
                          furthest->range.end() > next.range.offset;
    if (overlaps &&
        (furthest->range != next.range || furthest->content != next.content)) {
      Finding finding;
      finding.rule = Rule::kPersistent;
      finding.device = next.device;
      finding.bytes = {next.range.offset, next.range.end()};
      finding.message = absl::StrCat(
          "plan @", plan.name, ": persistent ranges ", furthest->text, " and ",
          next.text,
          " overlap and hold different values; each needs bytes of "
          "its own");
      findings.Add(std::move(finding));
    }
    if (!overlaps || next.range.end() > furthest->range.end()) furthest = &next;
  }
}

}  // namespace

void CheckPersistent(const std::vector<EntryView>& views, Findings& findings) {
  std::vector<Held> held;
  ComparedShards compared;
  for (const EntryView& view : views) {
    PersistentForm form(view, compared, findings);
    for (const PersistentValue& value : view.entry->persistent) {
      form.Check(value, held);
      if (findings.full()) return;
    }
  }
  if (!views.empty()) CheckOverlap(*views[0].plan, std::move(held), findings);
}

}  // namespace partita
