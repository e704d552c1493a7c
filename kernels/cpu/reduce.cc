// cpu.reduce: f32 sums, means, maxima, minima over any axes, row-major. The
// tree of additions depends on the shape only: each result adds its elements in
// eight strands, strand by strand, in double.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"

namespace partita {
namespace {

struct Sum {
  static constexpr double kStart = 0;
  static double Join(double a, double b) { return a + b; }
};
struct Max {
  static constexpr double kStart = -HUGE_VAL;
  static double Join(double a, double b) {
    return a > b || std::isnan(a) ? a : b;
  }
};
struct Min {
  static constexpr double kStart = HUGE_VAL;
  static double Join(double a, double b) {
    return a < b || std::isnan(a) ? a : b;
  }
};

// Kept and reduced dimensions, neighbours of one kind merged.
struct Dim {
  int64_t size;
  int64_t stride;
};

class ReduceKernel : public BoundKernel {
 public:
  ReduceKernel(const OpView& node, int threads) : threads_(threads) {
    const Shape& dims = node.operand_type(0).dims;
    const Shape strides = RowMajorStrides(dims);
    const std::vector<int64_t>& axes = node.attr_ints("axes");
    int last = -1;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int kind = std::find(axes.begin(), axes.end(),
                                 static_cast<int64_t>(i)) != axes.end();
      std::vector<Dim>& list = kind != 0 ? reduced_ : kept_;
      if (kind == last) {
        list.back() = {list.back().size * dims[i], strides[i]};
      } else {
        list.push_back({dims[i], strides[i]});
      }
      last = kind;
      (kind != 0 ? count_ : results_) *= dims[i];
    }
    if (reduced_.empty()) reduced_.push_back({1, 1});
    op_ = &node.op();
  }

  absl::Status Launch(const LaunchArgs& args) override {
    const float* x = static_cast<const float*>(args.operands[0]);
    float* y = static_cast<float*>(args.results[0]);
    if (op_ == &kReduceMax) {
      Reduce<Max>(x, y, 1);
    } else if (op_ == &kReduceMin) {
      Reduce<Min>(x, y, 1);
    } else {
      Reduce<Sum>(x, y, op_ == &kReduceMean ? static_cast<double>(count_) : 1);
    }
    return absl::OkStatus();
  }

 private:
  template <typename J>
  void Reduce(const float* x, float* y, double divisor) const {
    const int team = results_ * count_ < (64 << 10) ? 1 : threads_;
#pragma omp parallel for num_threads(team) schedule(static) if (team > 1)
    for (int64_t i = 0; i < results_; ++i) {
      const float* from = x;
      int64_t rest = i;
      for (size_t d = kept_.size(); d-- > 0;) {
        from += rest % kept_[d].size * kept_[d].stride;
        rest /= kept_[d].size;
      }
      y[i] = static_cast<float>(All<J>(from, 0) / divisor);
    }
  }

  template <typename J>
  double All(const float* x, size_t dim) const {
    const Dim d = reduced_[dim];
    if (dim + 1 == reduced_.size()) return Line<J>(x, d);
    double total = J::kStart;
    for (int64_t i = 0; i < d.size; ++i) {
      total = J::Join(total, All<J>(x + i * d.stride, dim + 1));
    }
    return total;
  }

  template <typename J>
  static double Line(const float* x, Dim d) {
    constexpr int kStrands = 8;
    double strands[kStrands];
    std::fill_n(strands, kStrands, J::kStart);
    int64_t i = 0;
    for (; i + kStrands <= d.size; i += kStrands) {
      for (int s = 0; s < kStrands; ++s) {
        strands[s] = J::Join(strands[s], x[(i + s) * d.stride]);
      }
    }
    for (int s = 0; i < d.size; ++i, ++s) {
      strands[s] = J::Join(strands[s], x[i * d.stride]);
    }
    double total = strands[0];
    for (int s = 1; s < kStrands; ++s) total = J::Join(total, strands[s]);
    return total;
  }

  const OpDef* op_;
  std::vector<Dim> kept_;
  std::vector<Dim> reduced_;
  int64_t results_ = 1;
  int64_t count_ = 1;
  int threads_;
};

std::vector<std::string> Layouts(const OpView& node) {
  const bool known = node.is(kReduceSum) || node.is(kReduceMean) ||
                     node.is(kReduceMax) || node.is(kReduceMin);
  if (!known || node.operand_type(0).dtype != DType::kF32 ||
      node.operand_type(0).num_elements() == 0) {
    return {};
  }
  for (int64_t axis : node.attr_ints("axes")) {
    if (axis < 0) return {};
  }
  return {""};
}

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<ReduceKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuReduce = {
    .kernel = "cpu.reduce",
    .bandwidth = 0.2,
    .exact = false,
    .layouts = Layouts,
    .bind = Bind,
};

}  // namespace partita
