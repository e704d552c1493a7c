// cpu.recurrent: f32 LSTMs, GRUs and RNNs, row-major. A step is one product of
// all rows' hidden states with the weights of their direction, and the gates,
// row by row. Lines (a row of the batch in one direction) do not touch one
// another, so threads share them; sums are as in block_product.h.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/recurrence.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/gate_functions.h"
#include "kernels/cpu/index_operand.h"
#include "kernels/team/team.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

std::optional<VectorFunction> FunctionOf(absl::string_view name) {
  if (name == "sigmoid") return VectorFunction::kSigmoid;
  if (name == "tanh") return VectorFunction::kTanh;
  if (name == "relu") return VectorFunction::kRelu;
  return std::nullopt;
}

// What a node computes, once for all launches.
struct Settings {
  explicit Settings(const OpView& node)
      : extents(node), clip(static_cast<float>(node.attr_float("clip"))) {
    for (absl::string_view name :
         absl::StrSplit(node.attr_string("activations"), ' ')) {
      functions.push_back(*FunctionOf(name));
    }
    reverse = node.attr_ints("reverse");
    reverse.resize(extents.directions, 0);
    coupled = node.is(kLstm) && node.attr_bool("input_forget");
    late = node.is(kGru) && node.attr_bool("linear_before_reset");
  }

  int64_t lines() const { return extents.directions * extents.batch; }
  // Of one line: hidden state, cell or state after the reset, sums, and a
  // product apart from them.
  int64_t LineFloats() const { return 2 * extents.units + 2 * extents.width; }
  int Team(int threads) const {
    const int64_t products =
        lines() * extents.steps * extents.width * extents.units;
    return products < (int64_t{1} << 18) ? 1 : threads;
  }

  RecurrenceExtents extents;
  float clip;
  std::vector<VectorFunction> functions;
  std::vector<int64_t> reverse;
  bool coupled;
  bool late;
};

// One step of one line.
struct Row {
  const float* gates;      // the inputs' share
  const float* peepholes;  // null if there are none; so is bias
  const float* bias;
  float* hidden;
  float* cell;  // a GRU's: the state after the reset
  float* sums;
  float* product;  // of the hidden state
  float* y;
};

// Columns [u, u + lanes) of the units, in one part of a row of gates.
struct Columns {
  int64_t u;
  int64_t lanes;

  [[gnu::always_inline]] void LoadFrom(const float* row, Vector& v) const {
    LoadLanes(row + u, lanes, 0, v);
  }
  [[gnu::always_inline]] void StoreTo(const Vector& v, float* row) const {
    StoreLanes(v, lanes, row + u);
  }
};

struct RnnRow {
  [[gnu::always_inline]] static inline void Run(const Settings* s,
                                                const Row* row) {
    Vector sum;
    for (int64_t u = 0; u < s->extents.units; u += kVector) {
      const Columns at = {u, std::min(kVector, s->extents.units - u)};
      at.LoadFrom(row->sums, sum);
      ApplyClipped(s->functions[0], s->clip, sum);
      at.StoreTo(sum, row->hidden);
      at.StoreTo(sum, row->y);
    }
  }
};

// Gates are in the order input, output, forget, candidate.
struct LstmRow {
  [[gnu::always_inline]] static inline void Run(const Settings* s,
                                                const Row* row) {
    const int64_t units = s->extents.units;
    Vector input, output, forget, candidate, cell;
    for (int64_t u = 0; u < units; u += kVector) {
      const Columns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->cell, cell);
      at.LoadFrom(row->sums, input);
      Open(s, row, 0, at, cell, input);
      if (s->coupled) {
        forget = 1.0f - input;
      } else {
        at.LoadFrom(row->sums + 2 * units, forget);
        Open(s, row, 2, at, cell, forget);
      }
      at.LoadFrom(row->sums + 3 * units, candidate);
      ApplyClipped(s->functions[1], s->clip, candidate);
      cell = forget * cell + input * candidate;
      at.StoreTo(cell, row->cell);
      at.LoadFrom(row->sums + units, output);
      Open(s, row, 1, at, cell, output);
      Apply(s->functions[2], cell);
      output *= cell;
      at.StoreTo(output, row->hidden);
      at.StoreTo(output, row->y);
    }
  }

 private:
  [[gnu::always_inline]] static inline void Open(const Settings* s,
                                                 const Row* row, int64_t gate,
                                                 const Columns& at,
                                                 const Vector& cell,
                                                 Vector& sum) {
    if (row->peepholes != nullptr) {
      Vector peephole;
      at.LoadFrom(row->peepholes + gate * s->extents.units, peephole);
      sum += peephole * cell;
    }
    ApplyClipped(s->functions[0], s->clip, sum);
  }
};

// Gates are in the order update, reset, candidate. Sums of the first two become
// the gates, and where the reset comes before the product, the state after it
// is made.
struct GruGates {
  [[gnu::always_inline]] static inline void Run(const Settings* s,
                                                const Row* row) {
    const int64_t units = s->extents.units;
    Vector gate, hidden;
    for (int64_t u = 0; u < 2 * units; u += kVector) {
      const Columns at = {u, std::min(kVector, 2 * units - u)};
      at.LoadFrom(row->sums, gate);
      ApplyClipped(s->functions[0], s->clip, gate);
      at.StoreTo(gate, row->sums);
    }
    if (s->late) return;
    for (int64_t u = 0; u < units; u += kVector) {
      const Columns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->sums + units, gate);
      at.LoadFrom(row->hidden, hidden);
      hidden *= gate;
      at.StoreTo(hidden, row->cell);
    }
  }
};

// With the state's share of the candidate in the row's product.
struct GruState {
  [[gnu::always_inline]] static inline void Run(const Settings* s,
                                                const Row* row) {
    const int64_t units = s->extents.units;
    Vector update, reset, candidate, share, hidden;
    for (int64_t u = 0; u < units; u += kVector) {
      const Columns at = {u, std::min(kVector, units - u)};
      at.LoadFrom(row->product, share);
      if (row->bias != nullptr) {
        at.LoadFrom(row->bias, reset);
        share += reset;
      }
      if (s->late) {
        at.LoadFrom(row->sums + units, reset);
        share *= reset;
      }
      at.LoadFrom(row->sums + 2 * units, candidate);
      candidate += share;
      ApplyClipped(s->functions[1], s->clip, candidate);
      at.LoadFrom(row->sums, update);
      at.LoadFrom(row->hidden, hidden);
      hidden = (1.0f - update) * candidate + update * hidden;
      at.StoreTo(hidden, row->hidden);
      at.StoreTo(hidden, row->y);
    }
  }
};

// Where a launch's operands lie; null if they are not there.
struct Operands {
  const float* gates = nullptr;
  const float* r = nullptr;
  const float* hidden = nullptr;
  const float* cell = nullptr;
  const float* bias = nullptr;
  const float* peepholes = nullptr;
  const void* lengths = nullptr;
};

class RecurrentKernel : public BoundKernel {
 public:
  RecurrentKernel(const OpView& node, int threads)
      : s_(node),
        lstm_(node.is(kLstm)),
        gru_(node.is(kGru)),
        operands_(node.num_operands()),
        threads_(s_.Team(threads)),
        name_(NameForMessages(node)) {
    one_hidden_ = node.operand_type(2).dims[1] == 1;
    if (lstm_) one_cell_ = node.operand_type(3).dims[1] == 1;
    if (LengthsAt() < operands_) {
      const TensorType& type = node.operand_type(LengthsAt());
      wide_lengths_ = type.dtype == DType::kI64;
      one_length_ = type.dims[0] == 1;
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const Operands in = Find(args);
    if (absl::Status status = CheckLengths(in.lengths); !status.ok()) {
      return status;
    }
    RunShares(threads_, s_.lines(), [&](int, int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end;) {
        const int64_t direction = line / s_.extents.batch;
        const int64_t next = std::min(end, (direction + 1) * s_.extents.batch);
        Rows(*this, args, in, direction, line, next - line).Run();
        line = next;
      }
    });
    return absl::OkStatus();
  }

 private:
  int LengthsAt() const { return lstm_ || gru_ ? 4 : 3; }

  Operands Find(const LaunchArgs& args) const {
    const auto at = [&](int i) {
      return i < operands_ ? static_cast<const float*>(args.operands[i])
                           : nullptr;
    };
    Operands in = {.gates = at(0), .r = at(1), .hidden = at(2)};
    if (lstm_) {
      in.cell = at(3);
      in.peepholes = at(5);
    }
    if (gru_) in.bias = at(3);
    in.lengths = at(LengthsAt());
    return in;
  }

  int64_t Length(const void* lengths, int64_t row) const {
    if (lengths == nullptr) return s_.extents.steps;
    if (one_length_) row = 0;
    return wide_lengths_ ? static_cast<const int64_t*>(lengths)[row]
                         : static_cast<const int32_t*>(lengths)[row];
  }

  absl::Status CheckLengths(const void* lengths) const {
    for (int64_t row = 0; row < s_.extents.batch; ++row) {
      const int64_t length = Length(lengths, row);
      if (length >= 0 && length <= s_.extents.steps) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          name_, ": found length ", length, " of row ", row, "; expected 0..",
          s_.extents.steps, "; correct the lengths"));
    }
    return absl::OkStatus();
  }

  // Rows of one direction that one thread computes.
  class Rows {
   public:
    Rows(const RecurrentKernel& kernel, const LaunchArgs& args,
         const Operands& in, int64_t direction, int64_t line, int64_t count)
        : k_(kernel),
          s_(kernel.s_),
          e_(kernel.s_.extents),
          args_(args),
          in_(in),
          direction_(direction),
          first_(line - direction * e_.batch),
          count_(count) {
      // Every thread's lines are its own part of the workspace.
      hidden_ = static_cast<float*>(args.workspace) + line * s_.LineFloats();
      cell_ = hidden_ + count * e_.units;
      sums_ = cell_ + count * e_.units;
      product_ = sums_ + count * e_.width;
    }

    void Run() {
      for (int64_t i = 0; i < count_; ++i) {
        CopyState(in_.hidden, k_.one_hidden_, i, hidden_);
        if (k_.lstm_) CopyState(in_.cell, k_.one_cell_, i, cell_);
      }
      for (int64_t step = 0; step < e_.steps; ++step) Step(step);
      for (int64_t i = 0; i < count_; ++i) {
        Keep(hidden_, i, args_.results[1]);
        if (k_.lstm_) Keep(cell_, i, args_.results[2]);
      }
    }

   private:
    void CopyState(const float* from, bool one, int64_t i, float* to) const {
      const int64_t line =
          one ? direction_ : direction_ * e_.batch + first_ + i;
      std::copy_n(from + line * e_.units, e_.units, to + i * e_.units);
    }

    void Keep(const float* state, int64_t i, void* result) const {
      std::copy_n(state + i * e_.units, e_.units,
                  static_cast<float*>(result) +
                      (direction_ * e_.batch + first_ + i) * e_.units);
    }

    // result (+)= left r, of columns [begin, begin + count) of r.
    void MultiplyBy(const float* left, int64_t begin, int64_t count,
                    float* result, bool adds) const {
      Multiply({.left = {left, e_.units, 1},
                .right = {in_.r + direction_ * e_.units * e_.width + begin,
                          e_.width},
                .result = {result, e_.width},
                .m = count_,
                .n = count,
                .k = e_.units,
                .adds = adds});
    }

    // Where row `i` is at `step`; behind its length, zeros are at that time.
    int64_t Line(int64_t step, int64_t i) const {
      const int64_t length = k_.Length(in_.lengths, first_ + i);
      const bool turns = s_.reverse[direction_] != 0 && step < length;
      const int64_t time = turns ? length - 1 - step : step;
      return (time * e_.batch + first_ + i) * e_.directions + direction_;
    }

    bool IsBehind(int64_t step, int64_t i) const {
      return step >= k_.Length(in_.lengths, first_ + i);
    }

    Row RowOf(int64_t step, int64_t i) const {
      const int64_t line = Line(step, i);
      return {.gates = in_.gates + line * e_.width,
              .peepholes = in_.peepholes == nullptr
                               ? nullptr
                               : in_.peepholes + direction_ * 3 * e_.units,
              .bias = in_.bias == nullptr ? nullptr
                                          : in_.bias + direction_ * e_.units,
              .hidden = hidden_ + i * e_.units,
              .cell = cell_ + i * e_.units,
              .sums = sums_ + i * e_.width,
              .product = product_ + i * e_.width,
              .y = static_cast<float*>(args_.results[0]) + line * e_.units};
    }

    template <typename Loop>
    void ForEachRow(int64_t step) const {
      for (int64_t i = 0; i < count_; ++i) {
        if (IsBehind(step, i)) continue;
        const Row row = RowOf(step, i);
        RunVectorised<Loop>(&s_, &row);
      }
    }

    void Step(int64_t step) const {
      for (int64_t i = 0; i < count_; ++i) {
        const Row row = RowOf(step, i);
        std::copy_n(row.gates, e_.width, row.sums);
        if (IsBehind(step, i)) std::fill_n(row.y, e_.units, 0.0f);
      }
      if (k_.gru_) return GruStep(step);
      MultiplyBy(hidden_, 0, e_.width, sums_, /*adds=*/true);
      if (k_.lstm_) return ForEachRow<LstmRow>(step);
      ForEachRow<RnnRow>(step);
    }

    void GruStep(int64_t step) const {
      const int64_t open = 2 * e_.units;
      MultiplyBy(hidden_, 0, open, sums_, /*adds=*/true);
      ForEachRow<GruGates>(step);
      MultiplyBy(s_.late ? hidden_ : cell_, open, e_.units, product_,
                 /*adds=*/false);
      ForEachRow<GruState>(step);
    }

    const RecurrentKernel& k_;
    const Settings& s_;
    const RecurrenceExtents& e_;
    const LaunchArgs& args_;
    const Operands& in_;
    int64_t direction_;
    int64_t first_;  // row of the batch
    int64_t count_;
    float* hidden_;
    float* cell_;
    float* sums_;
    float* product_;
  };

  Settings s_;
  bool lstm_;
  bool gru_;
  int operands_;
  int threads_;
  std::string name_;
  bool one_hidden_ = false;
  bool one_cell_ = false;
  bool wide_lengths_ = false;
  bool one_length_ = false;
};

bool HasVectorFunctions(const OpView& node) {
  for (absl::string_view name :
       absl::StrSplit(node.attr_string("activations"), ' ')) {
    if (!FunctionOf(name).has_value()) return false;
  }
  return true;
}

bool HasPlainLengths(const OpView& node) {
  const int at = node.is(kRnn) ? 3 : 4;
  if (node.num_operands() <= at) return true;
  const DType dtype = node.operand_type(at).dtype;
  return dtype == DType::kI32 || dtype == DType::kI64;
}

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kLstm) && !node.is(kGru) && !node.is(kRnn)) return {};
  const TensorType& gates = node.operand_type(0);
  if (gates.dtype != DType::kF32 || gates.num_elements() == 0) return {};
  if (!HasVectorFunctions(node) || !HasPlainLengths(node)) return {};
  return {""};
}

int64_t Workspace(const OpView& node, const Layout&, int) {
  const Settings settings(node);
  return settings.lines() * settings.LineFloats() * int64_t{sizeof(float)};
}

// Of the threads that have lines.
Cost CostOf(const OpView& node, int threads) {
  Cost cost = node.op().cost(node);
  const Settings settings(node);
  const int64_t team =
      std::min<int64_t>(settings.Team(threads), settings.lines());
  cost.flops *= static_cast<double>(threads) / static_cast<double>(team);
  return cost;
}

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<RecurrentKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuRecurrent = {
    .kernel = "cpu.recurrent",
    .bandwidth = 0.5,
    .flops = 0.3,
    .exact = false,
    .fuses_products = true,
    .layouts = Layouts,
    .bind = Bind,
    .workspace = Workspace,
    .cost = CostOf,
};

}  // namespace partita
