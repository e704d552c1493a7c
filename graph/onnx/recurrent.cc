// ONNX's LSTM, GRU and RNN: one product computes the inputs' part of all gates,
// and an op of ours the recurrence. Directions with different activations get
// one op each.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/gate_activations.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrent_functions.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

enum Input { kX, kW, kR, kB, kLengths, kHidden, kCell, kPeepholes };

struct Kind {
  const OpDef* op;
  int64_t gates;
  std::vector<std::string> functions;  // of a direction, by default
};

struct Extents {
  int64_t steps, batch, inputs, directions, units;
};

Extents ExtentsOf(const NodeImport& node, size_t directions, bool batch_first) {
  const Shape& x = node.type(kX).dims;
  return {.steps = x[batch_first ? 1 : 0],
          .batch = x[batch_first ? 0 : 1],
          .inputs = x[2],
          .directions = static_cast<int64_t>(directions),
          .units = node.type(kR).dims[2]};
}

absl::Status ExpectInput(const NodeImport& node, int input, const char* name,
                         const Shape& dims, absl::string_view meaning) {
  if (node.type(input).dims == dims) return absl::OkStatus();
  return node.Invalid(
      absl::StrCat(name, " ", node.type(input).ToString()),
      absl::StrCat("extents [", absl::StrJoin(dims, ", "), "]: ", meaning));
}

absl::Status CheckRanks(const NodeImport& node) {
  constexpr const char* kNames[] = {"X", "W", "R"};
  for (int i : {kX, kW, kR}) {
    if (node.rank(i) == 3) continue;
    return node.Invalid(absl::StrCat(kNames[i], " ", node.type(i).ToString()),
                        "three dimensions");
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(NodeImport& node, const Kind& kind, const Extents& e,
                          bool batch_first) {
  const int64_t width = kind.gates * e.units;
  const int64_t hidden_size = node.Int("hidden_size", e.units);
  if (hidden_size != e.units) {
    return node.Invalid(
        absl::StrCat("hidden_size ", hidden_size),
        absl::StrCat(e.units, ", as R ", node.type(kR).ToString(), " has it"));
  }
  const Shape state = batch_first ? Shape{e.batch, e.directions, e.units}
                                  : Shape{e.directions, e.batch, e.units};
  const char* meaning =
      batch_first ? "batch, directions, units" : "directions, batch, units";
  const struct {
    int input;
    const char* name;
    Shape dims;
    const char* meaning;
  } kExpected[] = {
      {kW, "W", {e.directions, width, e.inputs}, "directions, gates, inputs"},
      {kR, "R", {e.directions, width, e.units}, "directions, gates, units"},
      {kB, "B", {e.directions, 2 * width}, "directions, two for each gate"},
      {kLengths, "sequence_lens", {e.batch}, "the batch"},
      {kHidden, "initial_h", state, meaning},
      {kCell, "initial_c", state, meaning},
      {kPeepholes, "P", {e.directions, 3 * e.units}, "directions, 3 units"}};
  for (const auto& row : kExpected) {
    if (!node.has_input(row.input)) continue;
    PARTITA_RETURN_IF_ERROR(
        ExpectInput(node, row.input, row.name, row.dims, row.meaning));
  }
  return absl::OkStatus();
}

// False if rows may have fewer steps; known lengths are checked.
absl::StatusOr<bool> AllWhole(NodeImport& node, int64_t steps) {
  if (!node.has_input(kLengths)) return true;
  const HostTensor* lengths = node.KnownInput(kLengths);
  if (lengths == nullptr) return false;
  bool all_whole = true;
  for (int64_t row = 0; row < lengths->type().num_elements(); ++row) {
    const double length = GetAsDouble(*lengths, row);
    all_whole &= length == static_cast<double>(steps);
    if (length >= 0 && length <= static_cast<double>(steps)) continue;
    return node.Invalid(
        absl::StrCat("length ", length, " of row ", row, " in sequence_lens"),
        absl::StrCat("0..", steps, ", the steps of X"));
  }
  return all_whole;
}

// The node in terms of our op.
class Recurrence {
 public:
  Recurrence(Composition& c, const Kind& kind, const Extents& e,
             bool batch_first, bool late_reset)
      : c_(c),
        kind_(kind),
        e_(e),
        batch_first_(batch_first),
        late_reset_(late_reset),
        dtype_(c.node().type(kX).dtype) {}

  // [steps, batch, directions, gates of all units]
  Expr Gates() const {
    const int64_t width = kind_.gates * e_.units;
    Expr x = c_.Input(kX);
    if (batch_first_) x = x.Transposed({1, 0, 2});
    const Expr w = c_.Input(kW).Reshaped({e_.directions * width, e_.inputs});
    Expr gates = Product(x, w, false, true);
    if (c_.node().has_input(kB)) {
      gates = gates + Bias().Reshaped({e_.directions * width});
    }
    return gates.Reshaped({e_.steps, e_.batch, e_.directions, width});
  }

  // After the gates.
  std::vector<Expr> Operands(bool all_whole) const {
    std::vector<Expr> operands = {c_.Input(kR).Transposed({0, 2, 1}),
                                  State(kHidden)};
    const bool peepholes = c_.node().has_input(kPeepholes);
    if (kind_.op == &kLstm) operands.push_back(State(kCell));
    if (kind_.op == &kGru && (late_reset_ || !all_whole)) {
      operands.push_back(CandidateBias());
    }
    if (!all_whole) operands.push_back(c_.Input(kLengths));
    if (all_whole && peepholes) operands.push_back(WholeLengths());
    if (peepholes) operands.push_back(c_.Input(kPeepholes));
    return operands;
  }

  // From [steps, batch, directions, units].
  void SetAll(Expr y) const {
    if (batch_first_) return c_.Set(0, y.Transposed({1, 0, 2, 3}));
    if (e_.directions > 1) return c_.Set(0, y.Transposed({0, 2, 1, 3}));
    c_.Set(0, y.Reshaped({e_.steps, 1, e_.batch, e_.units}));
  }

  void SetState(int output, Expr state) const {
    c_.Set(output, batch_first_ ? state.Transposed({1, 0, 2}) : state);
  }

 private:
  Expr Zeros(Shape dims) const {
    return c_.Constant(HostTensor(TensorType{dtype_, std::move(dims), {}}));
  }

  // Both biases, except what the reset gate multiplies.
  Expr Bias() const {
    const int64_t width = kind_.gates * e_.units;
    const Expr of_x = c_.Input(kB).Sliced(1, 0, width);
    const Expr of_h = c_.Input(kB).Sliced(1, width, width);
    if (!late_reset_) return of_x + of_h;
    const int64_t open = 2 * e_.units;
    return Concatenated({of_x.Sliced(1, 0, open) + of_h.Sliced(1, 0, open),
                         of_x.Sliced(1, open, e_.units)},
                        1);
  }

  Expr CandidateBias() const {
    if (!late_reset_ || !c_.node().has_input(kB)) {
      return Zeros({e_.directions, e_.units});
    }
    return c_.Input(kB).Sliced(1, 5 * e_.units, e_.units);
  }

  // [directions, batch, units], or a batch of one for all.
  Expr State(int input) const {
    if (!c_.node().has_input(input)) return Zeros({e_.directions, 1, e_.units});
    const Expr state = c_.Input(input);
    return batch_first_ ? state.Transposed({1, 0, 2}) : state;
  }

  Expr WholeLengths() const {
    return c_.Constant(HostTensor::Of<int64_t>({1}, {e_.steps}));
  }

  Composition& c_;
  const Kind& kind_;
  const Extents& e_;
  bool batch_first_;
  bool late_reset_;
  DType dtype_;
};

Attributes AttributesOf(NodeImport& node, const Kind& kind,
                        absl::Span<const GateActivation> activations,
                        std::vector<int64_t> reverse) {
  std::vector<std::string> names;
  std::vector<double> alphas, betas;
  bool parameters = false;
  for (const GateActivation& activation : activations) {
    names.push_back(activation.name);
    alphas.push_back(activation.alpha);
    betas.push_back(activation.beta);
    parameters |= FindGateFunction(activation.name)->parameters > 0;
  }
  Attributes attributes = {{"activations", absl::StrJoin(names, " ")},
                           {"clip", node.Float("clip", 0)}};
  if (std::count(reverse.begin(), reverse.end(), 1) > 0) {
    attributes.Set("reverse", std::move(reverse));
  }
  if (parameters) {
    attributes.Set("alphas", std::move(alphas));
    attributes.Set("betas", std::move(betas));
  }
  if (kind.op == &kLstm) {
    attributes.Set("input_forget", node.Flag("input_forget", false));
  }
  if (kind.op == &kGru) {
    attributes.Set("linear_before_reset",
                   node.Flag("linear_before_reset", false));
  }
  return attributes;
}

std::vector<int64_t> ReversedDirections(const std::string& direction) {
  if (direction == "bidirectional") return {0, 1};
  return {direction == "reverse"};
}

bool SameInAllDirections(absl::Span<const GateActivation> activations,
                         size_t functions) {
  return activations.size() == functions ||
         activations.subspan(0, functions) == activations.subspan(functions);
}

// The op's results; if directions differ, those of one op each, concatenated.
std::vector<Expr> Results(Composition& c, const Kind& kind, Expr gates,
                          std::vector<Expr> operands,
                          absl::Span<const GateActivation> activations,
                          const std::vector<int64_t>& reverse) {
  const int count = kind.op->num_results;
  const size_t functions = kind.functions.size();
  operands.insert(operands.begin(), gates);
  if (SameInAllDirections(activations, functions)) {
    return c.AddAll(*kind.op, operands,
                    AttributesOf(c.node(), kind,
                                 activations.subspan(0, functions), reverse),
                    count);
  }
  std::vector<std::vector<Expr>> parts(count);
  for (int64_t d = 0; d < 2; ++d) {
    std::vector<Expr> of_direction;
    for (const Expr& operand : operands) {
      const int axis = operand.rank() == 4 ? 2 : 0;
      const bool lengths = operand.rank() == 1;
      of_direction.push_back(lengths ? operand : operand.Sliced(axis, d, 1));
    }
    const std::vector<Expr> results =
        c.AddAll(*kind.op, of_direction,
                 AttributesOf(c.node(), kind,
                              activations.subspan(d * functions, functions),
                              {reverse[d]}),
                 count);
    for (int i = 0; i < count; ++i) parts[i].push_back(results[i]);
  }
  std::vector<Expr> joined;
  for (int i = 0; i < count; ++i) {
    joined.push_back(Concatenated(parts[i], i == 0 ? 2 : 0));
  }
  return joined;
}

absl::Status CheckAttributes(NodeImport& node) {
  const int64_t layout = node.Int("layout", 0);
  if (layout != 0 && layout != 1) {
    return node.Invalid(absl::StrCat("layout ", layout), "0 or 1");
  }
  if (node.has_attr("clip") && !(node.Float("clip", 0) > 0)) {
    return node.Invalid(absl::StrCat("clip ", node.Float("clip", 0)),
                        "more than 0; leave it out for no bound");
  }
  return absl::OkStatus();
}

absl::Status Convert(NodeImport& node, const Kind& kind) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string direction,
      node.Choice("direction", "forward",
                  {"forward", "reverse", "bidirectional"}));
  PARTITA_RETURN_IF_ERROR(CheckAttributes(node));
  PARTITA_RETURN_IF_ERROR(CheckRanks(node));
  const bool batch_first = node.Flag("layout", false);
  const std::vector<int64_t> reverse = ReversedDirections(direction);
  const Extents e = ExtentsOf(node, reverse.size(), batch_first);
  PARTITA_RETURN_IF_ERROR(CheckExtents(node, kind, e, batch_first));
  PARTITA_ASSIGN_OR_RETURN(const bool all_whole, AllWhole(node, e.steps));
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<GateActivation> activations,
      ReadGateActivations(node, kind.functions, e.directions));
  Composition c(node);
  const bool late_reset =
      kind.op == &kGru && node.Flag("linear_before_reset", false);
  const Recurrence recurrence(c, kind, e, batch_first, late_reset);
  const std::vector<Expr> results =
      Results(c, kind, recurrence.Gates(), recurrence.Operands(all_whole),
              activations, reverse);
  recurrence.SetAll(results[0]);
  for (size_t i = 1; i < results.size(); ++i) {
    recurrence.SetState(static_cast<int>(i), results[i]);
  }
  return c.status();
}

absl::Status Lstm(NodeImport& node) {
  return Convert(node, {&kLstm, 4, {"Sigmoid", "Tanh", "Tanh"}});
}

absl::Status Gru(NodeImport& node) {
  return Convert(node, {&kGru, 3, {"Sigmoid", "Tanh"}});
}

absl::Status Rnn(NodeImport& node) {
  return Convert(node, {&kRnn, 1, {"Tanh"}});
}

constexpr ConverterRow kRows[] = {
    {"LSTM", Lstm, 3, 3,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "input_forget layout"},
    {"GRU", Gru, 3, 2,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout linear_before_reset"},
    {"RNN", Rnn, 3, 2,
     "activation_alpha activation_beta activations clip direction hidden_size "
     "layout"},
};

}  // namespace

extern constinit const ConverterFamily kRecurrentConverters = {kRows};

}  // namespace partita
