// cpu.grid_sample: f32 images at f32 positions. The weights of a position are
// computed once for all channels.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/op_def.h"
#include "graph/ops/grid_sampler.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

// Positions whose weights are kept at a time.
constexpr int64_t kBlock = 256;

class GridSampleKernel : public Kernel {
 public:
  GridSampleKernel(const OpView& node, int threads)
      : sampler_(node),
        images_(node.operand_type(0).dims[0]),
        channels_(node.operand_type(0).dims[1]),
        extents_(node.operand_type(0).dims.begin() + 2,
                 node.operand_type(0).dims.end()),
        plane_(Product(extents_)),
        positions_(
            Product(absl::MakeConstSpan(node.result_type(0).dims).subspan(2))),
        shares_(
            static_cast<int64_t>(std::pow(sampler_.taps(), extents_.size()))),
        threads_(node.result_type(0).num_elements() < (4 << 10) ? 1 : threads) {
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    const float* grid = static_cast<const float*>(args.operands[1]);
    float* y = static_cast<float*>(args.results[0]);
    const int64_t blocks = (positions_ + kBlock - 1) / kBlock;
    ParallelForRanges(
        threads_, images_ * blocks, [&](int, int64_t begin, int64_t end) {
          Block block;
          for (int64_t i = begin; i < end; ++i) {
            const int64_t n = i / blocks;
            const int64_t first = i % blocks * kBlock;
            const int64_t count = std::min(kBlock, positions_ - first);
            Find(grid + (n * positions_ + first) * rank(), count, block);
            Blend(x + n * channels_ * plane_, count, block,
                  y + n * channels_ * positions_ + first);
          }
        });
    return absl::OkStatus();
  }

 private:
  // Weight s of position p is at s * kBlock + p.
  struct Block {
    std::vector<int64_t> offsets;
    std::vector<float> weights;
    std::vector<GridShare> shares;
  };

  int64_t rank() const { return static_cast<int64_t>(extents_.size()); }

  void Find(const float* grid, int64_t count, Block& block) const {
    block.offsets.resize(shares_ * kBlock);
    block.weights.resize(shares_ * kBlock);
    for (int64_t p = 0; p < count; ++p) {
      double at[3];
      std::copy_n(grid + p * rank(), rank(), at);
      SetShares(sampler_, at, extents_, block.shares);
      for (int64_t s = 0; s < shares_; ++s) {
        block.offsets[s * kBlock + p] = block.shares[s].offset;
        block.weights[s * kBlock + p] =
            static_cast<float>(block.shares[s].weight);
      }
    }
  }

  // Elements without weight are not read, since they may be infinite.
  void Blend(const float* x, int64_t count, const Block& block,
             float* y) const {
    for (int64_t c = 0; c < channels_; ++c, x += plane_, y += positions_) {
      std::fill_n(y, count, 0.0f);
      for (int64_t s = 0; s < shares_; ++s) {
        const int64_t* offsets = block.offsets.data() + s * kBlock;
        const float* weights = block.weights.data() + s * kBlock;
        for (int64_t p = 0; p < count; ++p) {
          const float value = weights[p] == 0 ? 0.0f : x[offsets[p]];
          y[p] += weights[p] * value;
        }
      }
    }
  }

  GridSampler sampler_;
  int64_t images_;
  int64_t channels_;
  std::vector<int64_t> extents_;
  int64_t plane_;
  int64_t positions_;
  int64_t shares_;
  int threads_;
};

bool Accepts(const OpView& node) {
  return node.is(kGridSample) && node.operand_type(0).dtype == DType::kF32 &&
         node.operand_type(1).dtype == DType::kF32 &&
         node.operand_type(0).rank() <= 5;
}

}  // namespace

extern const CpuFamily kCpuGridSample = {
    .kernel = "cpu.grid_sample",
    .bandwidth = 0.2,
    .flops = 0.05,
    .fuses_products = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<GridSampleKernel>,
};

}  // namespace partita
