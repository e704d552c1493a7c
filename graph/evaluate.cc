// Running graphs by eval, freeing each value after its last reader.
// SPDX-License-Identifier: Apache-2.0

#include "graph/evaluate.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class Evaluation {
 public:
  Evaluation(const Graph& graph, const VariableValues& variables)
      : graph_(graph),
        variables_(variables),
        values_(graph.value_id_bound()),
        readers_(graph.value_id_bound()) {
    for (int i = 0; i < graph.value_id_bound(); ++i) {
      readers_[i] = static_cast<int>(graph.value(ValueId(i)).uses.size());
    }
    for (ValueId output : graph.outputs()) ++readers_[output.index];
    for (const VariableUpdate& update : graph.updates()) {
      ++readers_[update.value.index];
    }
  }

  absl::Status SetInputs(absl::Span<const HostTensor> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("@", graph_.name(), ": found ", inputs.size(),
                       " inputs; expected ", graph_.inputs().size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId id = graph_.inputs()[i];
      const TensorType expected = graph_.type(id).RowMajor();
      if (inputs[i].type() != expected) {
        return absl::InvalidArgumentError(absl::StrCat(
            "@", graph_.name(), ": input %", graph_.value(id).name, ": found ",
            inputs[i].type().ToString(), "; expected ", expected.ToString()));
      }
      values_[id.index] = HostTensor::ConstView(expected, inputs[i].bytes());
    }
    return absl::OkStatus();
  }

  absl::Status Run() {
    for (OpView op : graph_.ops()) {
      PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> results, Compute(op));
      for (int i = 0; i < op.num_results(); ++i) {
        const int value = op.node().results[i].index;
        if (readers_[value] > 0) values_[value] = std::move(results[i]);
      }
      for (ValueId operand : op.node().operands) Release(operand);
    }
    return absl::OkStatus();
  }

  HostTensor Take(ValueId id) {
    // A value may be an output twice, and inputs are only borrowed.
    return values_[id.index].Clone();
  }

 private:
  absl::StatusOr<std::vector<HostTensor>> Compute(const OpView& op) {
    if (op.op().traits.reads_variable) return ReadVariable(op);
    std::vector<HostTensor> operands;
    for (ValueId id : op.node().operands) {
      const HostTensor& value = values_[id.index];
      operands.push_back(HostTensor::ConstView(value.type(), value.bytes()));
    }
    return EvaluateNode(op, operands);
  }

  absl::StatusOr<std::vector<HostTensor>> ReadVariable(const OpView& op) {
    auto it = variables_.find(op.attr_string("name"));
    if (it == variables_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(op.ToString(), ": found no value for variable @",
                       op.attr_string("name"), "; expected one"));
    }
    std::vector<HostTensor> results;
    results.push_back(
        HostTensor::ConstView(it->second->type(), it->second->bytes()));
    return results;
  }

  void Release(ValueId id) {
    if (--readers_[id.index] == 0) values_[id.index] = HostTensor();
  }

  const Graph& graph_;
  const VariableValues& variables_;
  std::vector<HostTensor> values_;  // by value id
  std::vector<int> readers_;        // by value id: remaining readers
};

}  // namespace

absl::StatusOr<std::vector<HostTensor>> Evaluate(
    const Graph& graph, absl::Span<const HostTensor> inputs,
    const VariableValues& variables) {
  Evaluation evaluation(graph, variables);
  PARTITA_RETURN_IF_ERROR(evaluation.SetInputs(inputs));
  PARTITA_RETURN_IF_ERROR(evaluation.Run());
  std::vector<HostTensor> outputs;
  for (ValueId id : graph.outputs()) outputs.push_back(evaluation.Take(id));
  for (const VariableUpdate& update : graph.updates()) {
    outputs.push_back(evaluation.Take(update.value));
  }
  return outputs;
}

absl::Status EvaluateInto(const OpView& node,
                          absl::Span<const HostTensor> operands,
                          absl::Span<HostTensor> results) {
  const bool has_elements = absl::c_any_of(
      results, [](const HostTensor& r) { return r.type().num_elements() > 0; });
  if (!has_elements) return absl::OkStatus();
  return node.op().eval(node, operands, results);
}

absl::StatusOr<std::vector<HostTensor>> EvaluateNode(
    const OpView& node, absl::Span<const HostTensor> operands) {
  std::vector<HostTensor> results;
  for (int i = 0; i < node.num_results(); ++i) {
    results.emplace_back(node.result_type(i).RowMajor());
  }
  if (absl::Status status =
          EvaluateInto(node, operands, absl::MakeSpan(results));
      !status.ok()) {
    const std::string name = absl::StrCat(node.ToString(), ": ");
    // BadOp already names the node.
    return absl::Status(
        status.code(), absl::StrCat("while evaluating ", name,
                                    absl::StripPrefix(status.message(), name)));
  }
  return results;
}

}  // namespace partita
