// Adds a training function, a loss, and batch norms by the batch.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/inference_training.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/dropout.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr char kCrossEntropy[] = "cross-entropy";
constexpr char kNll[] = "nll";
constexpr char kMse[] = "mse";
constexpr char kLabels[] = "labels";

absl::Status Refuse(absl::string_view where, absl::string_view found,
                    absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": found ", found, "; expected ", expected));
}

absl::Status CheckOutput(const Graph& graph, const std::string& loss) {
  if (graph.outputs().size() != 1) {
    return Refuse(
        absl::StrCat("@", graph.name()),
        absl::StrCat("the outputs ", absl::StrJoin(graph.output_names(), ", ")),
        "one, which the loss is of; export the model with that one");
  }
  const TensorType& type = graph.type(graph.outputs()[0]);
  const std::string where =
      absl::StrCat("output ", graph.output_names()[0], " of --loss ", loss);
  if (!IsFloat(type.dtype)) return Refuse(where, type.ToString(), "floats");
  if (HasClasses(loss) && type.rank() < 2) {
    return Refuse(where, type.ToString(), "[n, classes, d...]");
  }
  if (type.rank() < 1) return Refuse(where, type.ToString(), "[n, d...]");
  if (type.num_elements() == 0) {
    return Refuse(where, type.ToString(),
                  "one sample or more in a batch; bind it by --dim or --shape");
  }
  return absl::OkStatus();
}

absl::Status CheckInputs(const Graph& graph) {
  const int64_t batch = graph.type(graph.outputs()[0]).dims[0];
  for (ValueId input : graph.inputs()) {
    const Value& value = graph.value(input);
    if (value.name == kLabels) {
      return Refuse("input labels", "that name",
                    "another: it is the dataset's for what samples are");
    }
    if (value.type.rank() > 0 && value.type.dims[0] == batch) continue;
    return Refuse(absl::StrCat("input ", value.name), value.type.ToString(),
                  absl::StrCat("the batch of ", batch,
                               " samples, as the output has it, as dimension "
                               "0; bind it by --dim or --shape"));
  }
  return absl::OkStatus();
}

// True if the node's weight-dependent operands influence its results with a
// known gradient.
bool IsSmooth(const OpView& op) {
  return op.op().gradient != nullptr && op.op().gradient != ZeroGradient;
}

// Checks that some weight reaches the output through ops with a gradient.
absl::Status CheckReached(const Module& module, const Graph& graph) {
  std::vector<bool> depends(graph.value_id_bound(), false);
  std::string last_end =
      "no node reads a float initializer of one dimension "
      "or more";
  for (const OpView& op : graph.ops()) {
    const bool is_weight =
        op.is(kVariable) &&
        module.FindVariable(op.attr_string("name"))->trainable;
    const bool reads_one = absl::c_any_of(
        op.node().operands, [&](ValueId id) { return depends[id.index]; });
    if (!is_weight && !reads_one) continue;
    if (!is_weight && !IsSmooth(op)) {
      last_end = absl::StrCat("node ", op.node().location, " (", op.op_name(),
                              ") has no gradient");
      continue;
    }
    for (ValueId result : op.node().results) {
      depends[result.index] = IsFloat(graph.type(result).dtype);
    }
  }
  if (depends[graph.outputs()[0].index]) return absl::OkStatus();
  return Refuse(
      absl::StrCat("output ", graph.output_names()[0]),
      absl::StrCat("no weight that it depends on smoothly: ", last_end),
      "ops that have a gradient between weights and output "
      "(docs/internals/gradients.md)");
}

// Copies inputs and nodes to an empty function. Returns the copied output.
ValueId CopyTo(const Graph& from, Graph& to) {
  std::vector<ValueId> copies(from.value_id_bound());
  for (ValueId input : from.inputs()) {
    copies[input.index] = to.AddInput(from.value(input).name, from.type(input));
  }
  for (NodeId id : from.order()) {
    const Node& node = from.node(id);
    ValueIds operands;
    for (ValueId operand : node.operands) {
      operands.push_back(copies[operand.index]);
    }
    // Cannot fail: inference has passed for the original.
    const NodeId copy =
        *to.AddNode(CopyOf(node, std::move(operands), &to.literals()));
    for (size_t i = 0; i < node.results.size(); ++i) {
      const ValueId result = to.node(copy).results[i];
      copies[node.results[i].index] = result;
      to.value(result).name = from.value(node.results[i]).name;
    }
  }
  return copies[from.outputs()[0].index];
}

// The name of the variable that the tensor reads; empty if it is not a
// variable.
std::optional<std::string> NameRead(const Graph& graph, ValueId value) {
  const NodeId node = graph.value(value).defining_node;
  if (!node.valid() || graph.node(node).op != &kVariable) return std::nullopt;
  return graph.view(node).attr_string("name");
}

// The running statistics of a batch norm, if both are variables.
struct RunningStatistics {
  std::string mean;
  std::string variance;
};
std::optional<RunningStatistics> StatisticsOf(const Graph& graph,
                                              const OpView& batch_norm) {
  const auto mean = NameRead(graph, batch_norm.operand(3).id());
  const auto variance = NameRead(graph, batch_norm.operand(4).id());
  if (!mean.has_value() || !variance.has_value()) return std::nullopt;
  return RunningStatistics{*mean, *variance};
}

// Moves new nodes from the end to the position of `place`.
void MoveBefore(Graph& graph, NodeId last_before, NodeId place) {
  bool is_new = false;
  for (NodeId node : graph.order()) {
    if (is_new) graph.MoveBefore(node, place);
    is_new = is_new || node == last_before;
  }
}

// By name of a running statistic: its batch norm.
using StatisticOwners = std::map<std::string, std::string>;

// A statistic is updated once a step, by one batch norm.
absl::Status CheckOwnStatistics(const Node& node,
                                std::initializer_list<std::string> statistics,
                                StatisticOwners& owners) {
  for (const std::string& statistic : statistics) {
    const auto [owner, is_new] = owners.try_emplace(statistic, node.location);
    if (is_new) continue;
    return Refuse(
        absl::StrCat("node ", node.location, " (batch_norm)"),
        absl::StrCat("the running statistic ", statistic, ", which node ",
                     owner->second, " has too"),
        "one of its own for each; give each its own running statistics, or "
        "export with folded batch norms");
  }
  return absl::OkStatus();
}

// The new output: the old one may have been the result of a batch norm.
absl::StatusOr<ValueId> UseBatchStatistics(GraphBuilder& b, ValueId output,
                                           int shards) {
  Graph& graph = b.graph();
  StatisticOwners owners;
  for (const OpView& op : graph.ops(kBatchNorm)) {
    const auto names = StatisticsOf(graph, op);
    if (!names.has_value()) continue;
    const auto& [mean, variance] = *names;
    PARTITA_RETURN_IF_ERROR(
        CheckOwnStatistics(op.node(), {mean, variance}, owners));
    const NodeId last = graph.order().back();
    const GraphBuilder::Scope scope(b, op.node().scope);
    const Tensor y = BatchNormTraining(
        b.TensorOf(op.operand(0).id()), b.TensorOf(op.operand(1).id()),
        b.TensorOf(op.operand(2).id()), mean, variance,
        {.epsilon = op.attr_float("epsilon"), .shards = shards});
    if (!y.valid()) return output;
    MoveBefore(graph, last, op.id());
    if (op.result(0).id() == output) output = y.id();
    graph.ReplaceAllUses(op.result(0).id(), y.id());
    graph.Erase(op.id());
  }
  if (shards > 1 && owners.empty()) {
    return Refuse("batch norms", "none with statistics to train",
                  absl::StrCat("one at least, for ", shards,
                               " shards of the batch with statistics of their "
                               "own"));
  }
  return output;
}

// The first operand of the tensor's producer, if that is of this op.
std::optional<Tensor> MadeOf(GraphBuilder& b, Tensor y, const OpDef& op) {
  const NodeId node = b.graph().value(y.id()).defining_node;
  if (!node.valid() || b.graph().node(node).op != &op) return std::nullopt;
  return b.TensorOf(b.graph().view(node).operand(0).id());
}

// The scores for cross entropy: the output or, if the output is a softmax over
// classes, the operand of that softmax.
Tensor ScoresOf(GraphBuilder& b, Tensor y) {
  const std::optional<Tensor> scores = MadeOf(b, y, kSoftmax);
  if (!scores.has_value()) return y;
  const NodeId softmax = b.graph().value(y.id()).defining_node;
  const int64_t axis = b.graph().view(softmax).attr_int("axis");
  const bool over_classes = axis == 1 || axis == 1 - y.rank();
  return over_classes ? *scores : y;
}

// Reshapes the output to [n, classes, d...]; the labels give the dimensions. In
// older opsets softmax is over [n, classes * d...], between two reshapes.
Tensor ClassesOf(GraphBuilder& b, Tensor y, const std::string& loss) {
  if (!y.valid()) return {};
  const bool is_row = LabelsOf(y.type(), loss).rank() == 1;
  const Shape row = {y.dim(0), y.dim(1)};
  const std::optional<Tensor> reshaped = MadeOf(b, y, kReshape);
  if (is_row && reshaped.has_value() && reshaped->type().dims == row) {
    y = *reshaped;
  }
  if (loss == kCrossEntropy) y = ScoresOf(b, y);
  return is_row && y.rank() > 2 ? Reshape(y, {row.begin(), row.end()}) : y;
}

Tensor LossOf(GraphBuilder& b, Tensor y, const std::string& loss,
              const ClassLossOptions& options) {
  if (!y.valid()) return {};
  const TensorType type = LabelsOf(y.type(), loss);
  const Tensor labels = b.Input(kLabels, type.dtype, type.dims);
  if (loss == kMse) return MseLoss(y, labels, {.ignore_nan = true});
  const Tensor classes = ClassesOf(b, y, loss);
  return loss == kNll ? NllLoss(classes, labels, options)
                      : CrossEntropyLoss(classes, labels, options);
}

// One row of log-probabilities for each label, in the labels' order.
Tensor Rows(GraphBuilder& b, Tensor y, const std::string& loss) {
  y = ClassesOf(b, y, loss);
  if (!y.valid()) return {};
  const int64_t classes = y.dim(1);
  Ints perm = {0};
  for (int d = 2; d < y.rank(); ++d) perm.push_back(d);
  perm.push_back(1);
  const Tensor rows = Reshape(perm.size() == 2 ? y : Transpose(y, perm),
                              {y.type().num_elements() / classes, classes});
  return loss == kNll ? rows : LogSoftmax(rows);
}

// A name for the step count that is not used by a weight.
std::string StepName(const Module& module) {
  std::string name = "step";
  while (module.FindVariable(name) != nullptr) name += "_";
  return name;
}

absl::StatusOr<Module> AddStep(Module module, ValueId output,
                               const std::string& loss_name,
                               const UpdateRule& update,
                               int batch_norm_shards) {
  const std::string step_name = StepName(module);
  GraphBuilder b(std::move(module), "train");
  const Tensor step = CountSteps(b, step_name);
  PARTITA_ASSIGN_OR_RETURN(output,
                           UseBatchStatistics(b, output, batch_norm_shards));
  const Tensor loss = LossOf(b, b.TensorOf(output), loss_name,
                             {.label_smoothing = update.label_smoothing});
  PARTITA_RETURN_IF_ERROR(Minimize(b, loss, step, update));
  b.Output("loss", loss);
  return b.Build();
}

absl::StatusOr<Module> AddEvaluation(Module module, ValueId output,
                                     const std::string& loss) {
  GraphBuilder b(std::move(module), "evaluate");
  const Tensor y = b.TensorOf(output);
  if (HasClasses(loss)) {
    b.Output("log_probabilities", Cast(Rows(b, y, loss), DType::kF32));
  } else {
    b.Output("predictions", Cast(y, DType::kF32));
  }
  return b.Build();
}

}  // namespace

std::vector<std::string> LossNames() { return {kCrossEntropy, kNll, kMse}; }

bool HasClasses(absl::string_view loss) { return loss != kMse; }

TensorType LabelsOf(const TensorType& output, absl::string_view loss) {
  TensorType labels = {output.dtype, output.dims, {}};
  if (!HasClasses(loss)) return labels;
  labels.dtype = DType::kI64;
  labels.dims.erase(labels.dims.begin() + 1);
  const bool is_row = std::all_of(labels.dims.begin() + 1, labels.dims.end(),
                                  [](int64_t extent) { return extent == 1; });
  if (is_row) labels.dims.resize(1);
  return labels;
}

absl::Status CheckTrainable(const Module& module, const std::string& loss) {
  if (!absl::c_linear_search(LossNames(), loss)) {
    return Refuse("loss", loss,
                  absl::StrCat("one of ", absl::StrJoin(LossNames(), ", ")));
  }
  if (module.functions().size() != 1 || module.main().name() != "train") {
    return Refuse("module",
                  absl::StrCat(module.functions().size(), " functions, @",
                               module.main().name(), " first"),
                  "@train alone");
  }
  const Graph& graph = module.main();
  PARTITA_RETURN_IF_ERROR(CheckOutput(graph, loss));
  PARTITA_RETURN_IF_ERROR(CheckInputs(graph));
  return CheckReached(module, graph);
}

bool HasRunningStatistics(const Module& module) {
  const Graph& graph = module.main();
  for (const OpView& op : graph.ops(kBatchNorm)) {
    if (StatisticsOf(graph, op).has_value()) return true;
  }
  return false;
}

absl::StatusOr<Module> TrainingOf(Module module, const std::string& loss,
                                  const UpdateRule& update,
                                  int batch_norm_shards) {
  PARTITA_RETURN_IF_ERROR(CheckTrainable(module, loss));
  Graph& train = module.main();
  const ValueId evaluated = CopyTo(train, module.AddFunction("evaluate"));
  const ValueId trained = train.outputs()[0];
  train.SetOutputs({});
  PARTITA_ASSIGN_OR_RETURN(module, AddStep(std::move(module), trained, loss,
                                           update, batch_norm_shards));
  return AddEvaluation(std::move(module), evaluated, loss);
}

}  // namespace partita
