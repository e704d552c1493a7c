// cpu.recurrent: f32 LSTMs, GRUs and RNNs, row-major. A step is one product of
// all rows' hidden states with the weights of their direction, then the gates,
// row by row. Lines (a row of the batch in one direction) are independent, so
// threads divide them. Sums are as in block_product.h.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/index_operand.h"
#include "kernels/cpu/recurrent_rows.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// The operands of a launch; null if missing.
struct Operands {
  const float* gates = nullptr;
  const float* r = nullptr;
  const float* hidden = nullptr;
  const float* cell = nullptr;
  const float* bias = nullptr;
  const float* peepholes = nullptr;
  const void* lengths = nullptr;
};

class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(const OpView& node, int threads)
      : s_(node),
        lstm_(node.is(kLstm)),
        gru_(node.is(kGru)),
        operands_(node.num_operands()),
        threads_(s_.UsedThreads(threads)),
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
    ParallelForRanges(
        threads_, s_.lines(), [&](int, int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end;) {
            const int64_t direction = line / s_.extents.batch;
            const int64_t next =
                std::min(end, (direction + 1) * s_.extents.batch);
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
      // Each thread's lines are its own part of the workspace.
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

    // result (+)= left r, for columns [begin, begin + count) of r.
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

    // The position of row `i` at `step`. After its length, zeros are at that
    // time.
    int64_t Line(int64_t step, int64_t i) const {
      const int64_t length = k_.Length(in_.lengths, first_ + i);
      const bool reverses = s_.reverse[direction_] != 0 && step < length;
      const int64_t time = reverses ? length - 1 - step : step;
      return (time * e_.batch + first_ + i) * e_.directions + direction_;
    }

    bool IsBehind(int64_t step, int64_t i) const {
      return step >= k_.Length(in_.lengths, first_ + i);
    }

    RecurrentRow RowOf(int64_t step, int64_t i) const {
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
        const RecurrentRow row = RowOf(step, i);
        RunVectorised<Loop>(&s_, &row);
      }
    }

    void Step(int64_t step) const {
      for (int64_t i = 0; i < count_; ++i) {
        const RecurrentRow row = RowOf(step, i);
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
    const RecurrentSettings& s_;
    const RecurrenceExtents& e_;
    const LaunchArgs& args_;
    const Operands& in_;
    int64_t direction_;
    int64_t first_;  // in the batch
    int64_t count_;
    float* hidden_;
    float* cell_;
    float* sums_;
    float* product_;
  };

  RecurrentSettings s_;
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

bool Accepts(const OpView& node) {
  if (!node.is(kLstm) && !node.is(kGru) && !node.is(kRnn)) return false;
  const TensorType& gates = node.operand_type(0);
  return gates.dtype == DType::kF32 && gates.num_elements() != 0 &&
         HasVectorFunctions(node) && HasPlainLengths(node);
}

int64_t Workspace(const OpView& node, const Layout&, int) {
  const RecurrentSettings settings(node);
  return settings.lines() * settings.LineFloats() * int64_t{sizeof(float)};
}

// For the threads that have lines.
Cost CostOf(const OpView& node, int threads) {
  Cost cost = node.op().cost(node);
  const RecurrentSettings settings(node);
  const int64_t used =
      std::min<int64_t>(settings.UsedThreads(threads), settings.lines());
  cost.flops *= static_cast<double>(threads) / static_cast<double>(used);
  return cost;
}

}  // namespace

extern const CpuFamily kCpuRecurrent = {
    .kernel = "cpu.recurrent",
    .bandwidth = 0.5,
    .flops = 0.3,
    .exact = false,
    .fuses_products = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<RecurrentKernel>,
    .workspace = Workspace,
    .cost = CostOf,
};

}  // namespace partita
