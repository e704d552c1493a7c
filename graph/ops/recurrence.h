// Shared by lstm, gru, rnn and their gradients: extents, operands, the order of
// steps, and products with the weights of a direction.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_RECURRENCE_H_
#define PARTITA_GRAPH_OPS_RECURRENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/op_def.h"

namespace partita {

// Operands: gates [steps, batch, directions, width], the input terms of all
// gates; r [directions, units, width], the weights of the hidden state; states
// [directions, batch, units]; and lengths [batch]. The batch of states and
// lengths may be 1, for all rows. Directions and rows of the batch are
// independent: a line is one row in one direction.
struct RecurrenceExtents {
  explicit RecurrenceExtents(const OpView& op);

  Shape HiddenDims() const { return {steps, batch, directions, units}; }
  Shape StateDims() const { return {directions, batch, units}; }

  int64_t steps, batch, directions, units, width;
};

// The indices of the operands after gates and r; -1 for an operand that the op
// does not have.
struct RecurrenceOperands {
  int gates_per_unit = 1;
  int cell = -1;
  int bias = -1;
  int peepholes = -1;
  int lengths = -1;
  int dy = -1;     // [steps, batch, directions, units]
  int dlast = -1;  // [states, directions, batch, units]
  int states = 1;
};

// Checks all operands, `reverse` and `clip`.
absl::Status CheckRecurrence(const OpView& op, const RecurrenceOperands& at);

// The types of hidden states and of states among the results.
absl::Status SetRecurrenceResults(const OpView& op, Types& results,
                                  absl::Span<const int> hidden,
                                  absl::Span<const int> states);

// "batch" and "directions" are kept. `hidden_results` and `state_results` are
// the results of dimensions [steps, batch, directions, ...] and [directions,
// batch, units].
DimensionRule RecurrenceRule(const OpView& op, const RecurrenceOperands& at,
                             absl::Span<const int> hidden_results,
                             absl::Span<const int> state_results);
// A shard of the directions has its entries of `reverse`.
void RecurrenceShard(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes);

// The cost of `products` passes over r for each step, and of some operations
// for each gate.
Cost RecurrenceCost(const OpView& op, int products);

// One row of the batch in one direction: `length` steps are computed, from the
// last if reversed.
struct RecurrenceLine {
  int64_t Time(int64_t step) const {
    return reversed ? length - 1 - step : step;
  }

  int64_t direction;
  int64_t row;
  int64_t length;
  bool reversed;
};

// All lines. InvalidArgument for a length outside 0..steps.
absl::StatusOr<std::vector<RecurrenceLine>> LinesOf(
    const OpView& op, const RecurrenceOperands& at,
    absl::Span<const HostTensor> operands);

// A tensor as doubles, accessed by line.
class LineTensor {
 public:
  explicit LineTensor(const HostTensor& tensor);
  explicit LineTensor(const TensorType& type);  // zeros

  // [steps, batch, directions, n]: the n elements of a line at one step.
  double* At(const RecurrenceLine& line, int64_t time);
  // [directions, batch, n], or a batch of 1; or several such states.
  double* State(const RecurrenceLine& line, int64_t state = 0);
  std::vector<double> CopyOf(const RecurrenceLine& line, int64_t state = 0);
  // [directions, n...]
  double* Of(int64_t direction);
  void WriteTo(HostTensor& tensor) const;

 private:
  Shape dims_;
  std::vector<double> values_;
};

// y_j += sum_k x_k r_kj over columns [begin, end) of r [units, width].
void AddProduct(const double* x, const double* r, const RecurrenceExtents& e,
                int64_t begin, int64_t end, double* y);
// x_k += sum_j r_kj y_j over the same columns.
void AddTransposed(const double* y, const double* r, const RecurrenceExtents& e,
                   int64_t begin, int64_t end, double* x);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_RECURRENCE_H_
