// Form of cuts: nodes are divided only as their ops allow, and read values as
// these were divided.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/cut.h"
#include "graph/instance.h"
#include "graph/status_macros.h"
#include "graph/text/sharding_text.h"
#include "runtime/plan/checker/form.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// A constant, variable or input has all of its values: no member holds a
// summand.
absl::Status CheckSource(const Placement& placement) {
  for (const Sharding& sharding : placement.results) {
    if (sharding.kind != Sharding::Kind::kPartial) continue;
    return absl::InvalidArgumentError(
        "found a partial value; expected a whole or a split one");
  }
  return absl::OkStatus();
}

// A bucket is an exchange or nothing: no other command carries it out.
absl::Status CheckBucket(const OpView& node) {
  if (CollectiveOf(node).has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "found a bucket that does more or less than to join; expected as many "
      "results as operands, all of them partial or all of them split, and "
      "whole afterwards");
}

// Copies may join and divide values as they like.
absl::Status CheckNode(const OpView& node) {
  if (node.is(kCopy)) return absl::OkStatus();
  if (node.is(kBucket)) return CheckBucket(node);
  if (node.is(kConstant) || node.is(kVariable))
    return CheckSource(node.node().placement);
  return CheckCut(node);
}

// How operand `i` was made. Inputs are made by feeds, which give each member
// what it reads.
const Placement* MadeAs(const EntryView& view, const OpView& node, int i) {
  const NodeId maker =
      view.graph().value(node.node().operands[i]).defining_node;
  return maker.valid() ? &view.graph().node(maker).placement : nullptr;
}

// Members read what they, and not others, have of a value. Copies may bring
// parts to other devices; where several members do, they say of what parts.
absl::Status CheckRead(const EntryView& view, const OpView& node, int i) {
  const Placement* made = MadeAs(view, node, i);
  if (made == nullptr) return absl::OkStatus();
  const Placement& read = node.node().placement;
  if (node.is(kCopy) && read.devices.size() < 2) return absl::OkStatus();
  const Value& value = view.graph().value(node.node().operands[i]);
  const Sharding lies = ShardingOf(made->results, value.index);
  const Sharding wanted = ShardingOf(read.operands, i);
  if (lies != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("found operand ", i, " read as ", ShardingText(wanted),
                     "; expected ", ShardingText(lies), ", as ",
                     view.ValueText(node.node().operands[i]), " was made"));
  }
  const bool whole = lies.kind == Sharding::Kind::kReplicated;
  if (whole || node.is(kCopy) || made->devices == read.devices) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found operand ", i, " read in parts on ",
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
        Rule::kCut, -1,
        absl::StrCat("input ", view.ValueText(view.graph().inputs()[i]), ": ",
                     status.message(), "; place it again")));
  }
}

}  // namespace

void CheckCuts(const EntryView& view, Findings& findings) {
  CheckInputs(view, findings);
  for (const OpView& node : view.graph().ops()) {
    absl::Status status = CheckNode(node);
    if (status.ok()) status = CheckReads(view, node);
    if (status.ok()) continue;
    findings.Add(
        view.Found(Rule::kCut, -1,
                   absl::StrCat(view.NodeText(node.id()), ": ",
                                status.message(), "; place it again")));
    if (findings.full()) return;
  }
}

}  // namespace partita
