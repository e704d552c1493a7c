// cpu.gather_gradient: adds slices where indices say, in the order of the
// indices.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/op_def.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/strided.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/index_operand.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) {
  return node.is(kGatherGradient) && HasIndexOperand(node) &&
         node.operand_type(0).dtype == DType::kF32;
}

class GatherGradientKernel : public Kernel {
 public:
  GatherGradientKernel(const OpView& node, int threads)
      : lines_(node.result_type(0).dims,
               AxisAttr(node, "axis", node.result_type(0).rank())),
        indices_(node, lines_.extent, /*from_end=*/true),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const void* indices = args.operands[1];
    if (absl::Status status = indices_.Check(indices); !status.ok()) {
      return status;
    }
    const float* dy = static_cast<const float*>(args.operands[0]);
    float* dx = static_cast<float*>(args.results[0]);
    const int64_t blocks = (lines_.inner + kColumns - 1) / kColumns;
    const int64_t tasks = lines_.outer * blocks;
    const int64_t work =
        lines_.outer * lines_.inner * (indices_.count() + lines_.extent);
    const int threads = work < (16 << 10) ? 1 : threads_;
    ParallelFor(threads, tasks, [&](int64_t task) {
      AddUp(dy, indices, task / blocks, task % blocks * kColumns, dx);
    });
    return absl::OkStatus();
  }

 private:
  // The elements of a slice that one task adds. No two tasks write the same
  // element.
  static constexpr int64_t kColumns = 64;

  void AddUp(const float* dy, const void* indices, int64_t outer,
             int64_t column, float* dx) const {
    const int64_t columns = std::min(kColumns, lines_.inner - column);
    float* sums = dx + outer * lines_.extent * lines_.inner + column;
    for (int64_t i = 0; i < lines_.extent; ++i) {
      std::fill_n(sums + i * lines_.inner, columns, 0.0f);
    }
    const float* from = dy + outer * indices_.count() * lines_.inner + column;
    for (int64_t i = 0; i < indices_.count(); ++i, from += lines_.inner) {
      float* to = sums + indices_.At(indices, i) * lines_.inner;
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
    }
  }

  AxisLines lines_;  // the result's
  IndexOperand indices_;
  int threads_;
};

}  // namespace

extern const CpuFamily kCpuGatherGradient = {
    .kernel = "cpu.gather_gradient",
    .bandwidth = 0.2,
    .exact = false,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<GatherGradientKernel>,
};

}  // namespace partita
