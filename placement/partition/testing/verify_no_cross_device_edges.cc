// Checks each edge of a placed graph.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/testing/verify_no_cross_device_edges.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {
namespace {

constexpr size_t kMaxFaults = 20;

std::string DevicesText(const Placement& placement) {
  if (!placement.placed()) return "no device";
  return absl::StrJoin(placement.devices, ", ");
}

const Placement& MadeAt(const Graph& graph, const Value& value) {
  return value.defining_node.valid() ? graph.node(value.defining_node).placement
                                     : graph.input_placement(value.index);
}

bool IsSplit(const std::vector<Sharding>& shardings, size_t i,
             Sharding& split) {
  if (i >= shardings.size()) return false;
  split = shardings[i];
  return split.kind != Sharding::Kind::kReplicated;
}

// A whole value may be read on any device that has it. Shards are read only by
// the same ranks in the same order.
bool Reaches(const Graph& graph, const OpView& reader, int operand) {
  const Value& value = graph.value(reader.operand(operand).id());
  const Placement& made = MadeAt(graph, value);
  const Placement& read = reader.node().placement;
  Sharding have;
  Sharding wanted;
  const bool made_split = IsSplit(
      made.results, value.defining_node.valid() ? value.index : 0, have);
  const bool read_split = IsSplit(read.operands, operand, wanted);
  if (made_split || read_split) {
    return made_split && read_split && have == wanted &&
           made.devices == read.devices;
  }
  return absl::c_all_of(read.devices, [&](const std::string& device) {
    return absl::c_linear_search(made.devices, device);
  });
}

}  // namespace

absl::Status VerifyNoCrossDeviceEdges(const Graph& graph) {
  std::vector<std::string> faults;
  for (const OpView& op : graph.ops()) {
    if (!op.node().placement.placed()) {
      faults.push_back(absl::StrCat(
          op.ToString(), ": found no device; expected a placed node"));
    }
    for (int i = 0; i < op.num_operands() && !op.is(kCopy); ++i) {
      if (Reaches(graph, op, i)) continue;
      faults.push_back(absl::StrCat(
          op.ToString(), " on ", DevicesText(op.node().placement), ": found %",
          op.operand(i).name(), " on ",
          DevicesText(MadeAt(graph, graph.value(op.operand(i).id()))),
          " or in another sharding; expected a copy between them"));
    }
    if (faults.size() >= kMaxFaults) break;
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("@", graph.name(), ": ", absl::StrJoin(faults, "\n")));
}

}  // namespace partita
