// Form of shardings: nodes are sharded only as their ops allow, and read values
// as these were sharded.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/check_sharding.h"
#include "graph/core_ops.h"
#include "graph/shard.h"
#include "graph/sharding_text.h"
#include "graph/status_macros.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// A constant, variable or input is never partial.
absl::Status CheckSource(const Placement& placement) {
  for (const Sharding& sharding : placement.results) {
    if (sharding.kind != Sharding::Kind::kPartial) continue;
    return absl::InvalidArgumentError(
        "found a partial value; expected a whole or a split one");
  }
  return absl::OkStatus();
}

// Only a collective executes a bucket.
absl::Status CheckBucket(const OpView& node) {
  if (CollectiveOf(node).has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "found a bucket that is not one collective; expected as many results as "
      "operands, all operands partial or all split, and all results "
      "replicated");
}

// Copies may reduce, gather and shard values.
absl::Status CheckNode(const OpView& node) {
  if (node.is(kCopy)) return absl::OkStatus();
  if (node.is(kBucket)) return CheckBucket(node);
  if (node.is(kConstant) || node.is(kVariable)) {
    return CheckSource(node.node().placement);
  }
  return CheckSharding(node);
}

// The placement of operand `i` where it is made. Feeds make inputs as each rank
// reads them.
const Placement* MadeAs(const EntryView& view, const OpView& node, int i) {
  const NodeId maker =
      view.graph().value(node.node().operands[i]).defining_node;
  return maker.valid() ? &view.graph().node(maker).placement : nullptr;
}

// Ranks read the shard that they hold. Copies may move shards to other devices;
// if several ranks read, the copy states the sharding.
absl::Status CheckRead(const EntryView& view, const OpView& node, int i) {
  const Placement* made = MadeAs(view, node, i);
  if (made == nullptr) return absl::OkStatus();
  const Placement& read = node.node().placement;
  if (node.is(kCopy) && read.devices.size() < 2) return absl::OkStatus();
  const Value& value = view.graph().value(node.node().operands[i]);
  const Sharding made_as = ShardingOf(made->results, value.index);
  const Sharding wanted = ShardingOf(read.operands, i);
  if (made_as != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("found operand ", i, " read as ", ShardingText(wanted),
                     "; expected ", ShardingText(made_as), ", as ",
                     view.ValueText(node.node().operands[i]), " was made"));
  }
  const bool whole = made_as.kind == Sharding::Kind::kReplicated;
  if (whole || node.is(kCopy) || made->devices == read.devices) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found operand ", i, " read in shards on ",
                   absl::StrJoin(read.devices, ", "), "; expected ",
                   absl::StrJoin(made->devices, ", "), ", where ",
                   view.ValueText(node.node().operands[i]), " was made"));
}

absl::Status CheckReads(const EntryView& view, const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckRead(view, node, i));
  }
  return absl::OkStatus();
}

void CheckInputs(const EntryView& view, Findings& findings) {
  for (size_t i = 0; i < view.graph().inputs().size(); ++i) {
    const absl::Status status =
        CheckSource(view.graph().input_placement(static_cast<int>(i)));
    if (status.ok()) continue;
    findings.Add(view.Found(
        Rule::kSharding,
        absl::StrCat("input ", view.ValueText(view.graph().inputs()[i]), ": ",
                     status.message(), "; place it again")));
  }
}

}  // namespace

void CheckShardings(const EntryView& view, Findings& findings) {
  CheckInputs(view, findings);
  for (const OpView& node : view.graph().ops()) {
    absl::Status status = CheckNode(node);
    if (status.ok()) status = CheckReads(view, node);
    if (status.ok()) continue;
    findings.Add(view.Found(
        Rule::kSharding, absl::StrCat(view.NodeText(node.id()), ": ",
                                      status.message(), "; place it again")));
    if (findings.full()) return;
  }
}

}  // namespace partita
