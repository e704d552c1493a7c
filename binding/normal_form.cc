// Expands bodies node by node, with a table from values of the current graph to
// values of the normal form.
// SPDX-License-Identifier: Apache-2.0

#include "binding/normal_form.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/id_vector.h"
#include "graph/op_def.h"
#include "graph/shard.h"

namespace partita {
namespace {

// Where a value is: its devices, and how it is sharded over them.
struct Home {
  absl::InlinedVector<std::string, 1> devices;
  Sharding sharding;
};

// A replicated value is the same on fewer of its devices; a sharded one is not.
bool HasValueOn(const Home& home, const Home& wanted) {
  const bool replicated = home.sharding == Sharding();
  if (!replicated || wanted.sharding != Sharding()) {
    return home.sharding == wanted.sharding && home.devices == wanted.devices;
  }
  return absl::c_all_of(wanted.devices, [&](const std::string& device) {
    return absl::c_linear_search(home.devices, device);
  });
}

bool IsSplit(const Sharding& sharding) {
  return sharding.kind == Sharding::Kind::kSplit;
}

// By node of the body. Only a split has other placements inside.
std::vector<Placement> PlacementsIn(const Graph& body, const Placement& outer) {
  if (absl::c_any_of(outer.operands, IsSplit) ||
      absl::c_any_of(outer.results, IsSplit)) {
    return BodyPlacements(body, outer);
  }
  return std::vector<Placement>(body.num_nodes(), {.devices = outer.devices});
}

class Expander {
 public:
  Expander(const Graph& graph, NormalForm& form) : graph_(graph), form_(form) {}

  void Run() {
    Values values(graph_.value_id_bound());
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Placement& placement = graph_.input_placement(static_cast<int>(i));
      form_.inputs.push_back(
          AddValue({placement.devices, ShardingOf(placement.results, 0)}));
      values[graph_.inputs()[i]] = form_.inputs.back();
    }
    for (const OpView& op : graph_.ops()) {
      CheckReordered(op);
      Expand(op, op.node().placement, "", values);
    }
    for (ValueId output : graph_.outputs()) {
      form_.outputs.push_back(values[output]);
    }
    for (const VariableUpdate& update : graph_.updates()) {
      form_.updates.push_back(values[update.value]);
    }
    form_.num_values = static_cast<int>(homes_.size());
    MarkLive();
  }

 private:
  // Of a graph or body.
  using Values = IdVector<ValueId, NormalValueId>;

  void Fault(const OpView& op, absl::string_view found,
             absl::string_view expected) {
    form_.faults.push_back(absl::StrCat(op.ToString(), ": found ", found,
                                        "; expected ", expected));
  }

  NormalValueId AddValue(Home home) { return homes_.Add(std::move(home)); }

  void Expand(const OpView& op, const Placement& placement,
              const std::string& inside, Values& values) {
    if (op.is(kReorder)) {
      values[op.result(0).id()] = SeeThrough(op, placement, values);
    } else if (op.is(kFused)) {
      ExpandBody(op, placement, values);
    } else {
      AddNode(op, placement, inside, values);
    }
  }

  void AddNode(const OpView& op, const Placement& placement,
               const std::string& inside, Values& values) {
    NormalNode node{.op = op, .inside = inside, .placement = placement};
    for (ValueId operand : op.node().operands) {
      node.operands.push_back(values[operand]);
    }
    for (int i = 0; i < op.num_results(); ++i) {
      node.results.push_back(
          AddValue({placement.devices, ShardingOf(placement.results, i)}));
      values[op.result(i).id()] = node.results.back();
    }
    form_.nodes.push_back(std::move(node));
  }

  NormalValueId SeeThrough(const OpView& op, const Placement& placement,
                           const Values& values) {
    const NormalValueId value = values[op.operand(0).id()];
    const Home read{placement.devices, ShardingOf(placement.operands, 0)};
    if (!HasValueOn(homes_[value], read) ||
        ShardingOf(placement.results, 0) != read.sharding) {
      Fault(op, "other devices or another sharding than of its operand",
            "another layout only");
    }
    if (op.operand_type(0).RowMajor() != op.result_type(0).RowMajor()) {
      Fault(op, op.result_type(0).ToString(),
            op.operand_type(0).RowMajor().ToString());
    }
    if (op.attr_string("layout") != op.result_type(0).layout.ToString()) {
      Fault(op, op.result_type(0).ToString(),
            absl::StrCat("the layout {", op.attr_string("layout"), "}"));
    }
    return value;
  }

  void ExpandBody(const OpView& fused, const Placement& placement,
                  Values& outer) {
    const Graph& body = fused.region(0);
    Values values(body.value_id_bound());
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      values[body.inputs()[i]] = outer[fused.node().operands[i]];
    }
    const std::vector<Placement> placements = PlacementsIn(body, placement);
    const std::string inside = fused.ToString();
    int next = 0;
    for (const OpView& op : body.ops()) {
      Expand(op, placements[next++], inside, values);
    }
    for (int i = 0; i < fused.num_results(); ++i) {
      const NormalValueId value = values[body.outputs()[i]];
      if (homes_[value].sharding != ShardingOf(placement.results, i)) {
        Fault(fused, absl::StrCat("another sharding of result ", i),
              "that of the value in its body");
      }
      outer[fused.result(i).id()] = value;
    }
  }

  // A reader sees through a reorder, so it must be where the reorder is. A copy
  // reads its operand where it is.
  void CheckReordered(const OpView& op) {
    if (op.is(kCopy)) return;
    for (int i = 0; i < op.num_operands(); ++i) {
      const NodeId maker = graph_.value(op.operand(i).id()).defining_node;
      if (!maker.valid() || !graph_.view(maker).is(kReorder)) continue;
      const Placement& made = graph_.node(maker).placement;
      const Placement& read = op.node().placement;
      if (!HasValueOn({made.devices, ShardingOf(made.results, 0)},
                      {read.devices, ShardingOf(read.operands, i)})) {
        Fault(op, absl::StrCat("operand ", i, " on other devices"),
              "a reorder on its own devices");
      }
    }
  }

  void MarkLive() {
    IdVector<NormalValueId, bool> is_live(homes_.size(), false);
    for (NormalValueId output : form_.outputs) is_live[output] = true;
    for (NormalValueId update : form_.updates) is_live[update] = true;
    for (auto node = form_.nodes.rbegin(); node != form_.nodes.rend(); ++node) {
      node->is_live = absl::c_any_of(
          node->results, [&](NormalValueId result) { return is_live[result]; });
      if (!node->is_live) continue;
      for (NormalValueId operand : node->operands) is_live[operand] = true;
    }
  }

  const Graph& graph_;
  NormalForm& form_;
  IdVector<NormalValueId, Home> homes_;
};

}  // namespace

NormalForm::NormalForm(const Graph& graph) { Expander(graph, *this).Run(); }

std::string NodeText(const NormalNode& node) {
  return node.inside.empty()
             ? node.op.ToString()
             : absl::StrCat(node.op.ToString(), " in ", node.inside);
}

}  // namespace partita
