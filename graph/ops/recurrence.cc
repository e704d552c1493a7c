// Checks, dimension rules and loops of recurrences.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/recurrence.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"

namespace partita {
namespace {

constexpr int kGates = 0;
constexpr int kWeights = 1;
constexpr int kHidden = 2;

bool Has(const OpView& op, int operand) {
  return operand >= 0 && operand < op.num_operands();
}

absl::Status CheckGates(const OpView& op, int gates_per_unit) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, kGates, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, kGates, 4, 4));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, kWeights, 3, 3));
  const Shape& gates = op.operand_type(kGates).dims;
  const int64_t units = op.operand_type(kWeights).dims[1];
  if (gates[3] / gates_per_unit != units || gates[3] % gates_per_unit != 0) {
    return BadExtents(
        op, Describe(op, kGates),
        absl::StrCat(gates_per_unit, " for each of the ", units, " units of ",
                     Describe(op, kWeights), " in dimension 3"),
        "store the gates of all units in sequence");
  }
  return ExpectDims(op, kWeights, {gates[2], units, gates[3]});
}

// [directions, batch or 1, units]
absl::Status ExpectState(const OpView& op, int operand) {
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, operand, 3, 3));
  Shape dims = RecurrenceExtents(op).StateDims();
  if (op.operand_type(operand).dims[1] == 1) dims[1] = 1;
  return ExpectDims(op, operand, dims);
}

absl::Status ExpectLengths(const OpView& op, int operand) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, operand, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, operand, 1, 1));
  if (op.operand_type(operand).dims[0] == 1) return absl::OkStatus();
  return ExpectDims(op, operand, {RecurrenceExtents(op).batch});
}

absl::Status CheckAttributes(const OpView& op, int64_t directions) {
  const std::vector<int64_t>& reverse = op.attr_ints("reverse");
  const bool truths = std::all_of(reverse.begin(), reverse.end(),
                                  [](int64_t v) { return v == 0 || v == 1; });
  if (!truths || (!reverse.empty() &&
                  static_cast<int64_t>(reverse.size()) != directions)) {
    return BadOp(op,
                 absl::StrCat("reverse = [", absl::StrJoin(reverse, ", "), "]"),
                 absl::StrCat("0 or 1 for each of ", directions, " directions"),
                 "leave it out if no direction is reversed");
  }
  const double clip = op.attr_float("clip");
  if (clip >= 0 && std::isfinite(clip)) return absl::OkStatus();
  return BadOp(op, absl::StrCat("clip ", clip), "0 or more",
               "use clip = 0 for no bound");
}

int64_t LengthOf(const HostTensor* lengths, int64_t row, int64_t otherwise) {
  if (lengths == nullptr) return otherwise;
  const int64_t at = lengths->type().num_elements() == 1 ? 0 : row;
  return ToInt64s(*lengths)[static_cast<size_t>(at)];
}

}  // namespace

RecurrenceExtents::RecurrenceExtents(const OpView& op) {
  const Shape& gates = op.operand_type(kGates).dims;
  steps = gates[0];
  batch = gates[1];
  directions = gates[2];
  width = gates[3];
  units = op.operand_type(kWeights).dims[1];
}

absl::Status CheckRecurrence(const OpView& op, const RecurrenceOperands& at) {
  PARTITA_RETURN_IF_ERROR(CheckGates(op, at.gates_per_unit));
  const RecurrenceExtents e(op);
  for (int i = 1; i < op.num_operands(); ++i) {
    if (i == at.lengths) continue;
    if (op.operand_type(i).dtype == op.operand_type(kGates).dtype) continue;
    return BadOp(op, Describe(op, i),
                 absl::StrCat(DTypeName(op.operand_type(kGates).dtype),
                              " like ", Describe(op, kGates)),
                 "cast the operand");
  }
  for (int state : {kHidden, at.cell}) {
    if (Has(op, state)) PARTITA_RETURN_IF_ERROR(ExpectState(op, state));
  }
  const auto expect = [&](int operand, const Shape& dims) {
    return Has(op, operand) ? ExpectDims(op, operand, dims) : absl::OkStatus();
  };
  PARTITA_RETURN_IF_ERROR(expect(at.bias, {e.directions, e.units}));
  PARTITA_RETURN_IF_ERROR(expect(at.peepholes, {e.directions, 3 * e.units}));
  PARTITA_RETURN_IF_ERROR(expect(at.dy, e.HiddenDims()));
  PARTITA_RETURN_IF_ERROR(
      expect(at.dlast, {at.states, e.directions, e.batch, e.units}));
  if (Has(op, at.lengths)) {
    PARTITA_RETURN_IF_ERROR(ExpectLengths(op, at.lengths));
  }
  return CheckAttributes(op, e.directions);
}

DimensionRule RecurrenceRule(const OpView& op, const RecurrenceOperands& at,
                             absl::Span<const int> hidden_results,
                             absl::Span<const int> state_results) {
  const RecurrenceExtents e(op);
  RuleBuilder rule(op);
  const int batch = rule.Kept("batch", e.batch);
  const int directions = rule.Kept("directions", e.directions);
  const auto operand = [&](int i, int dim, int factor) {
    if (Has(op, i) && op.operand_type(i).dims[dim] != 1) {
      rule.Operand(i, dim, factor);
    }
  };
  for (int i : {kGates, at.dy}) {
    operand(i, 1, batch);
    operand(i, 2, directions);
  }
  for (int i : {kWeights, kHidden, at.cell, at.bias, at.peepholes}) {
    operand(i, 0, directions);
  }
  for (int i : {kHidden, at.cell}) operand(i, 1, batch);
  operand(at.dlast, 1, directions);
  operand(at.dlast, 2, batch);
  operand(at.lengths, 0, batch);
  for (int i : hidden_results) {
    rule.Result(i, 1, batch).Result(i, 2, directions);
  }
  for (int i : state_results) {
    rule.Result(i, 0, directions).Result(i, 1, batch);
  }
  return rule.Finish();
}

absl::Status SetRecurrenceResults(const OpView& op, Types& results,
                                  absl::Span<const int> hidden,
                                  absl::Span<const int> states) {
  const RecurrenceExtents e(op);
  const DType dtype = op.operand_type(kGates).dtype;
  for (int i : hidden) {
    PARTITA_RETURN_IF_ERROR(results.Set(i, {dtype, e.HiddenDims(), {}}));
  }
  for (int i : states) {
    PARTITA_RETURN_IF_ERROR(results.Set(i, {dtype, e.StateDims(), {}}));
  }
  return absl::OkStatus();
}

void RecurrenceShard(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  if (op.op().dimension_rule(op).factors[factor].name != "directions") return;
  const std::vector<int64_t>& reverse = op.attr_ints("reverse");
  if (reverse.empty()) return;
  attributes.Set("reverse", std::vector<int64_t>(reverse.begin() + begin,
                                                 reverse.begin() + end));
}

Cost RecurrenceCost(const OpView& op, int products) {
  const RecurrenceExtents e(op);
  const double gates =
      static_cast<double>(op.operand_type(kGates).num_elements());
  return {.flops = gates * (2.0 * products * static_cast<double>(e.units) + 20),
          .bytes = BytesAccessedOnce(op)};
}

absl::StatusOr<std::vector<RecurrenceLine>> LinesOf(
    const OpView& op, const RecurrenceOperands& at,
    absl::Span<const HostTensor> operands) {
  const RecurrenceExtents e(op);
  const HostTensor* lengths =
      Has(op, at.lengths) ? &operands[at.lengths] : nullptr;
  const std::vector<int64_t>& reverse = op.attr_ints("reverse");
  std::vector<RecurrenceLine> lines;
  for (int64_t row = 0; row < e.batch; ++row) {
    const int64_t length = LengthOf(lengths, row, e.steps);
    if (length < 0 || length > e.steps) {
      return BadOp(op, absl::StrCat("length ", length, " of row ", row),
                   absl::StrCat("0..", e.steps), "correct the lengths");
    }
    for (int64_t d = 0; d < e.directions; ++d) {
      lines.push_back({d, row, length, !reverse.empty() && reverse[d] != 0});
    }
  }
  return lines;
}

LineTensor::LineTensor(const HostTensor& tensor)
    : dims_(tensor.type().dims), values_(ToDoubles(tensor)) {}

LineTensor::LineTensor(const TensorType& type)
    : dims_(type.dims), values_(type.num_elements(), 0) {}

double* LineTensor::At(const RecurrenceLine& line, int64_t time) {
  return values_.data() +
         ((time * dims_[1] + line.row) * dims_[2] + line.direction) * dims_[3];
}

double* LineTensor::State(const RecurrenceLine& line, int64_t state) {
  const int64_t* dims = &dims_[dims_.size() - 3];
  const int64_t row = dims[1] == 1 ? 0 : line.row;
  return values_.data() +
         ((state * dims[0] + line.direction) * dims[1] + row) * dims[2];
}

std::vector<double> LineTensor::CopyOf(const RecurrenceLine& line,
                                       int64_t state) {
  const double* first = State(line, state);
  return {first, first + dims_.back()};
}

double* LineTensor::Of(int64_t direction) {
  int64_t size = 1;
  for (size_t i = 1; i < dims_.size(); ++i) size *= dims_[i];
  return values_.data() + direction * size;
}

void LineTensor::WriteTo(HostTensor& tensor) const {
  FromDoubles(values_, tensor);
}

void AddProduct(const double* x, const double* r, const RecurrenceExtents& e,
                int64_t begin, int64_t end, double* y) {
  for (int64_t k = 0; k < e.units; ++k) {
    for (int64_t j = begin; j < end; ++j) y[j] += x[k] * r[k * e.width + j];
  }
}

void AddTransposed(const double* y, const double* r, const RecurrenceExtents& e,
                   int64_t begin, int64_t end, double* x) {
  for (int64_t k = 0; k < e.units; ++k) {
    for (int64_t j = begin; j < end; ++j) x[k] += r[k * e.width + j] * y[j];
  }
}

}  // namespace partita
