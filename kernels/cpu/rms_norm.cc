// cpu.rms_norm: f32 layer norms with a scale and no shift, row-major. Sums are
// f32, in a tree that depends only on the shape.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/float_vector.h"
#include "kernels/vector/lanes.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// One line; `bias` may be null.
struct RmsLine {
  const float* x;
  const float* scale;
  const float* bias;
  float* y;
  int64_t count;
  float epsilon;
};

template <typename Part>
struct NormaliseLine {
  using Sixteen = Lanes<Part>;

  [[gnu::always_inline]] static inline void Run(RmsLine l) {
    const float mean = SumOfSquares(l.x, l.count) / static_cast<float>(l.count);
    Sixteen rate;
    rate.Fill(1 / std::sqrt(mean + l.epsilon));
    for (int64_t i = 0; i < l.count; i += kVector) {
      const int64_t lanes = std::min(kVector, l.count - i);
      Sixteen v, scale;
      v.LoadFirst(l.x + i, lanes, 0);
      v.Scale(rate);
      scale.LoadFirst(l.scale + i, lanes, 0);
      v.Scale(scale);
      if (l.bias != nullptr) {
        Sixteen bias;
        bias.LoadFirst(l.bias + i, lanes, 0);
        v.Add(bias);
      }
      v.StoreFirst(lanes, l.y + i);
    }
  }

 private:
  // Four sums in turn, so that additions do not depend on each other.
  [[gnu::always_inline]] static inline float SumOfSquares(const float* x,
                                                          int64_t count) {
    constexpr int64_t kSums = 4;
    Sixteen sums[kSums];
    for (Sixteen& sum : sums) sum.Fill(0);
    int64_t i = 0;
    for (; i + kSums * kVector <= count; i += kSums * kVector) {
#pragma GCC unroll 4
      for (int64_t s = 0; s < kSums; ++s) {
        AddSquare(x + i + s * kVector, kVector, sums[s]);
      }
    }
    for (; i < count; i += kVector) {
      AddSquare(x + i, std::min(kVector, count - i), sums[0]);
    }
    for (int64_t s = 1; s < kSums; ++s) sums[0].Add(sums[s]);
    return sums[0].Sum();
  }

  [[gnu::always_inline]] static inline void AddSquare(const float* x,
                                                      int64_t lanes,
                                                      Sixteen& sum) {
    Sixteen v;
    v.LoadFirst(x, lanes, 0);
    v.Scale(v);
    sum.Add(v);
  }
};

class RmsNormKernel : public Kernel {
 public:
  RmsNormKernel(const OpView& node, int threads)
      : count_(node.operand_type(1).num_elements()),
        lines_(node.operand_type(0).num_elements() / count_),
        shifted_(node.num_operands() > 2),
        epsilon_(static_cast<float>(node.attr_float("epsilon"))),
        threads_(lines_ * count_ < (8 << 10) ? 1 : threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const auto operand = [&](int i) {
      return static_cast<const float*>(args.operands[i]);
    };
    float* const y = static_cast<float*>(args.results[0]);
    const float* const bias = shifted_ ? operand(2) : nullptr;
    ParallelFor(threads_, lines_, [&](int64_t i) {
      RunByWidth<NormaliseLine<Vector>, NormaliseLine<HalfVector>>(
          RmsLine{operand(0) + i * count_, operand(1), bias, y + i * count_,
                  count_, epsilon_});
    });
    return absl::OkStatus();
  }

 private:
  int64_t count_;
  int64_t lines_;
  bool shifted_;
  float epsilon_;
  int threads_;
};

bool Accepts(const OpView& node) {
  return node.is(kLayerNorm) && !node.attr_bool("center") &&
         OperandsAreF32(node);
}

}  // namespace

extern const CpuFamily kCpuRmsNorm = {
    .kernel = "cpu.rms_norm",
    .bandwidth = 0.5,
    .exact = false,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<RmsNormKernel>,
    .in_place = true,
};

}  // namespace partita
