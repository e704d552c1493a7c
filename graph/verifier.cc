// The checks of a graph, one function for each kind of fault.
// SPDX-License-Identifier: Apache-2.0

#include "graph/verifier.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/graph_faults.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

class GraphVerifier {
 public:
  GraphVerifier(const Graph& graph, std::string where, bool is_body,
                GraphFaults& faults)
      : graph_(graph),
        where_(std::move(where)),
        is_body_(is_body),
        faults_(faults),
        defined_(graph.value_id_bound(), false),
        uses_(graph.value_id_bound()) {}

  void Run() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) CheckInput(i);
    for (NodeId id : graph_.order()) CheckNode(id);
    CheckUses();
    CheckOutputs();
    CheckUpdates();
  }

 private:
  bool Exists(ValueId id) const {
    return id.valid() && id.index < graph_.value_id_bound();
  }

  std::string Called(ValueId id) const {
    const std::string& name = graph_.value(id).name;
    return absl::StrCat("%", name.empty() ? absl::StrCat(id.index) : name);
  }

  std::string At(const OpView& op) const {
    return absl::StrCat(where_, ": ", op.ToString());
  }

  void CheckInput(size_t i) {
    const ValueId id = graph_.inputs()[i];
    if (!Exists(id)) {
      faults_.Add(where_, absl::StrCat("input ", i, " that does not exist"),
                  "a value of the graph", "make inputs with AddInput");
      return;
    }
    defined_[id.index] = true;
    const std::string at = absl::StrCat(where_, ": input ", Called(id));
    const Value& value = graph_.value(id);
    if (value.defining_node.valid() || value.index != static_cast<int>(i)) {
      faults_.Add(at, absl::StrCat("the record of another value at place ", i),
                  "an input at its own place", "make inputs with AddInput");
    }
    CheckLayout(at, value.type);
    CheckPlacement(at, graph_.input_placement(static_cast<int>(i)), {}, {id});
  }

  void CheckNode(NodeId id) {
    const OpView op = graph_.view(id);
    if (op.node().op == nullptr) {
      faults_.Add(where_, absl::StrCat("node ", id.index, " without an op"),
                  "one of the op set", "make nodes with AddNode");
      return;
    }
    const size_t before = faults_.size();
    CheckOperands(op);
    CheckResults(op);
    for (size_t i = 0; i < op.node().regions.size(); ++i) CheckBody(op, i);
    // Inference may crash on a node with the faults found so far.
    if (faults_.size() == before) CheckAgainstOp(op);
    if (faults_.size() == before) {
      CheckPlacement(At(op), op.node().placement, op.node().operands,
                     op.node().results);
      CheckKernel(op);
    }
  }

  void CheckOperands(const OpView& op) {
    for (int i = 0; i < op.num_operands(); ++i) {
      const ValueId operand = op.node().operands[i];
      if (!Exists(operand) || !defined_[operand.index]) {
        faults_.Add(
            At(op),
            absl::StrCat("operand ", i, " without a definition before it"),
            "an input or an earlier result", "move the node after it");
      }
      if (Exists(operand)) uses_[operand.index].push_back({op.id(), i});
    }
  }

  void CheckResults(const OpView& op) {
    for (int i = 0; i < op.num_results(); ++i) {
      const ValueId result = op.node().results[i];
      if (!Exists(result) || graph_.value(result).defining_node != op.id() ||
          graph_.value(result).index != i || defined_[result.index]) {
        faults_.Add(absl::StrCat(where_, ": ", op.op_name()),
                    absl::StrCat("result ", i, " defined elsewhere"),
                    "a value of its own", "make nodes with AddNode");
        continue;
      }
      defined_[result.index] = true;
      CheckLayout(absl::StrCat(where_, ": ", op.op_name(), " ", Called(result)),
                  graph_.type(result));
    }
  }

  void CheckLayout(absl::string_view at, const TensorType& type) {
    if (absl::Status status = CheckType(type); !status.ok()) {
      faults_.Add(absl::StrCat(at, ": ", status.message()));
    }
  }

  void CheckBody(const OpView& op, size_t i) {
    const std::string at = absl::StrCat(At(op), ": body ", i);
    if (op.node().regions[i] == nullptr) {
      faults_.Add(at, "none", "a graph", "give each body once");
      return;
    }
    const Graph& body = op.region(static_cast<int>(i));
    if (&body.literals() != &graph_.literals()) {
      faults_.Add(at, "a literal pool of its own", "that of the whole module",
                  "clone the body over the module's literals");
      return;
    }
    GraphVerifier(body, at, /*is_body=*/true, faults_).Run();
  }

  void CheckAgainstOp(const OpView& op) {
    Types types;
    absl::Status status = CheckSignature(op);
    if (status.ok()) status = op.op().infer(op, types);
    if (!status.ok()) {
      faults_.Add(absl::StrCat(where_, ": ", status.message()));
      return;
    }
    if (static_cast<int>(types.types.size()) != op.num_results()) {
      faults_.Add(At(op), absl::StrCat(op.num_results(), " results"),
                  absl::StrCat(types.types.size()), "make the node again");
      return;
    }
    for (int i = 0; i < op.num_results(); ++i) {
      const TensorType& type = op.result_type(i);
      if (type.RowMajor() == types.types[i].RowMajor()) continue;
      faults_.Add(At(op), absl::StrCat("result ", i, ": ", type.ToString()),
                  absl::StrCat(types.types[i].ToString(), " as the op infers"),
                  "infer its types again");
    }
  }

  void CheckPlacement(absl::string_view at, const Placement& placement,
                      absl::Span<const ValueId> operands,
                      absl::Span<const ValueId> results) {
    if (!placement.placed() &&
        (!placement.operands.empty() || !placement.results.empty())) {
      faults_.Add(at, "shardings without devices", "devices",
                  "write the devices or clear the shardings");
    }
    absl::flat_hash_set<absl::string_view> seen;
    for (const std::string& device : placement.devices) {
      if (!device.empty() && seen.insert(device).second) continue;
      faults_.Add(at, absl::StrCat("device \"", device, "\" twice or unnamed"),
                  "each device once", "correct the device set");
    }
    CheckShardings(at, "operand", placement.operands, operands);
    CheckShardings(at, "result", placement.results, results);
  }

  void CheckShardings(absl::string_view at, absl::string_view kind,
                      absl::Span<const Sharding> shardings,
                      absl::Span<const ValueId> values) {
    if (shardings.empty()) return;
    if (shardings.size() != values.size()) {
      faults_.Add(at, absl::StrCat(shardings.size(), " ", kind, " shardings"),
                  absl::StrCat(values.size(), " or none"),
                  "write one for each");
      return;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (shardings[i].kind != Sharding::Kind::kSplit) continue;
      const TensorType& type = graph_.type(values[i]);
      const Sharding& split = shardings[i];
      if (split.dim < 0 || split.dim >= type.rank()) {
        faults_.Add(at,
                    absl::StrCat(kind, " ", i, " split at ", split.dim, " of ",
                                 type.ToString()),
                    "one of its dimensions", "correct the sharding");
      } else if (split.unit < 1 || type.dims[split.dim] % split.unit != 0) {
        faults_.Add(at,
                    absl::StrCat(kind, " ", i, " of ", type.ToString(),
                                 " split at ", split.dim, " by ", split.unit),
                    "a unit that divides the dimension",
                    "correct the sharding");
      }
    }
  }

  void CheckKernel(const OpView& op) {
    const std::optional<KernelBinding>& kernel = op.node().kernel;
    if (!kernel.has_value()) return;
    if (kernel->workspace < 0) {
      faults_.Add(At(op), absl::StrCat("workspace ", kernel->workspace),
                  "0 bytes or more", "correct the kernel binding");
    }
    // A sum over micro-batches may have the sum so far as an operand.
    const int operands = op.num_operands() + (op.is(kAccumulate) ? 1 : 0);
    for (const InPlacePair& pair : kernel->in_place) {
      if (pair.operand >= 0 && pair.operand < operands && pair.result >= 0 &&
          pair.result < op.num_results()) {
        continue;
      }
      faults_.Add(
          At(op),
          absl::StrCat("in-place pair ", pair.operand, " -> ", pair.result),
          "an operand and a result of the node", "correct the kernel binding");
    }
  }

  void CheckUses() {
    for (int i = 0; i < graph_.value_id_bound(); ++i) {
      const auto before = [](const Use& a, const Use& b) {
        return std::pair(a.node, a.operand) < std::pair(b.node, b.operand);
      };
      const auto& listed = graph_.value(ValueId(i)).uses;
      std::vector<Use> sorted(listed.begin(), listed.end());
      std::sort(sorted.begin(), sorted.end(), before);
      std::sort(uses_[i].begin(), uses_[i].end(), before);
      if (sorted == uses_[i]) continue;
      faults_.Add(absl::StrCat(where_, ": ", Called(ValueId(i))),
                  absl::StrCat(sorted.size(), " listed uses"),
                  absl::StrCat("the ", uses_[i].size(), " that read it"),
                  "change operands with SetOperand");
    }
  }

  void CheckOutputs() {
    const std::vector<ValueId>& outputs = graph_.outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (Exists(outputs[i]) && defined_[outputs[i].index]) continue;
      faults_.Add(where_, absl::StrCat("output ", i, " that nothing defines"),
                  "an input or a result", "set the outputs again");
    }
    if (graph_.output_names().size() != outputs.size()) {
      faults_.Add(where_,
                  absl::StrCat(graph_.output_names().size(), " output names"),
                  absl::StrCat(outputs.size()), "set the outputs again");
    }
    if (!is_body_) CheckOutputNames();
  }

  // Callers find outputs by name; outputs of a body need no names.
  void CheckOutputNames() {
    absl::flat_hash_set<absl::string_view> seen;
    for (const std::string& name : graph_.output_names()) {
      if (seen.insert(name).second) continue;
      faults_.Add(where_, absl::StrCat("two outputs named \"", name, "\""),
                  "a name of its own for each", "rename one of them");
    }
  }

  void CheckUpdates() {
    absl::flat_hash_set<absl::string_view> seen;
    for (const VariableUpdate& update : graph_.updates()) {
      const std::string at =
          absl::StrCat(where_, ": update of @", update.variable);
      if (is_body_) {
        faults_.Add(at, "an update in a body", "none",
                    "update variables in the function");
      }
      if (!Exists(update.value) || !defined_[update.value.index]) {
        faults_.Add(at, "a value that nothing defines", "an input or a result",
                    "correct the update");
      }
      if (!seen.insert(update.variable).second) {
        faults_.Add(at, "a second update", "one a variable",
                    "keep the last value only");
      }
    }
  }

  const Graph& graph_;
  const std::string where_;  // "@f", "@f: fused %y: body 0"
  const bool is_body_;
  GraphFaults& faults_;
  std::vector<bool> defined_;           // by value id, up to the current node
  std::vector<std::vector<Use>> uses_;  // by value id, from the operands
};

}  // namespace

void AddFaultsOf(const Graph& function, absl::string_view where,
                 GraphFaults& faults) {
  GraphVerifier(function, std::string(where), /*is_body=*/false, faults).Run();
}

absl::Status Verify(const Graph& graph) {
  GraphFaults faults;
  AddFaultsOf(graph, absl::StrCat("@", graph.name()), faults);
  return faults.ToStatus();
}

}  // namespace partita
