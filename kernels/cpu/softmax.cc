// cpu.softmax: f32 softmax and log-softmax along any axis, row-major. A line
// with NaN or plus infinity is all NaN. Sums are f32, in a tree that depends
// only on the shape.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/softmax_line.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

class SoftmaxKernel : public Kernel {
 public:
  SoftmaxKernel(const OpView& node, int threads)
      : logarithm_(node.is(kLogSoftmax)), threads_(threads) {
    const Shape& dims = node.operand_type(0).dims;
    int64_t axis = node.attr_int("axis");
    if (axis < 0) axis += static_cast<int64_t>(dims.size());
    extent_ = dims[axis];
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      if (i != axis) (i < axis ? outer_ : inner_) *= dims[i];
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    float* y = static_cast<float*>(args.results[0]);
    logarithm_ ? Run<true>(x, y) : Run<false>(x, y);
    return absl::OkStatus();
  }

 private:
  template <bool logarithm>
  void Run(const float* x, float* y) const {
    const int64_t tiles = (inner_ + kVector - 1) / kVector;
    const int threads = outer_ * inner_ * extent_ < (8 << 10) ? 1 : threads_;
    ParallelFor(threads, outer_ * tiles, [&](int64_t i) {
      const int64_t column = i % tiles * kVector;
      const int64_t at = i / tiles * extent_ * inner_ + column;
      if (inner_ == 1) {
        RunByWidth<SoftmaxLine<logarithm, Vector>,
                   SoftmaxLine<logarithm, HalfVector>>(x + at, y + at, extent_);
      } else {
        RunByWidth<SoftmaxColumns<logarithm, Vector>,
                   SoftmaxColumns<logarithm, HalfVector>>(
            SoftmaxLanes{x + at, y + at, extent_, inner_,
                         std::min(kVector, inner_ - column)});
      }
    });
  }

  bool logarithm_;
  int64_t outer_ = 1;
  int64_t extent_ = 1;
  int64_t inner_ = 1;
  int threads_;
};

bool Accepts(const OpView& node) {
  return (node.is(kSoftmax) || node.is(kLogSoftmax)) && OperandsAreF32(node) &&
         node.operand_type(0).rank() != 0;
}

}  // namespace

extern const CpuFamily kCpuSoftmax = {
    .kernel = "cpu.softmax",
    .bandwidth = 0.4,
    .exact = false,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<SoftmaxKernel>,
    .in_place = true,
};

}  // namespace partita
