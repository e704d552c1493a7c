// cpu.reduce: sums, sums of squares, means, maxima, minima of f32 or f64 over
// any axes, and sums together with sums of squares or products of f32 in f64,
// in any layout whose padding does not enter a result. The tree of additions
// depends only on the shape. The reduced elements are split into chunks. A
// chunk is summed in strands if many of its elements are adjacent, otherwise
// one by one, all in double.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/round_up.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/reduce_loops.h"
#include "kernels/cpu/reduce_walks.h"
#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

using reduction::Chunk;
using reduction::JoinColumns;
using reduction::JoinLine;
using reduction::JoinShortLines;
using reduction::kLanes;
using reduction::kStrands;
using reduction::Max;
using reduction::Min;
using reduction::Pairs;
using reduction::Sum;
using reduction::SumProducts;
using reduction::SumSquares;
using reduction::Totals;

// How the work is split; depends only on the shape.
struct Division {
  explicit Division(const ReduceLoops& loops) {
    constexpr int64_t kTasks = 64;  // enough for any number of threads
    // elements that make a task worth starting
    constexpr int64_t kElements = 8 << 10;
    blocks = (loops.columns.size + kLanes - 1) / kLanes;
    const int64_t apart = loops.groups * blocks;
    const int64_t width = std::min<int64_t>(loops.columns.size, kLanes);
    chunks = std::clamp<int64_t>(
        std::min((kTasks + apart - 1) / apart, loops.count * width / kElements),
        1, loops.count);
    chunk = (loops.count + chunks - 1) / chunks;
    // Lines keep their strands whole.
    chunk = RoundUp(chunk, kStrands);
    chunks = (loops.count + chunk - 1) / chunk;
  }
  int64_t blocks;  // of columns
  int64_t chunks;  // of the reduced elements
  int64_t chunk;   // elements in each except the last
};

int64_t Workspace(const OpView& node, const Layout& layout, int threads) {
  const ReduceLoops loops = ReduceLoopsOf(node, layout);
  const Division division(loops);
  return division.chunks == 1
             ? 0
             : division.chunks * loops.results * int64_t{sizeof(double)} *
                   node.num_results();
}

class ReduceKernel : public Kernel {
 public:
  ReduceKernel(const OpView& node, int threads)
      : op_(node.op()),
        is_f64_(node.operand_type(0).dtype == DType::kF64),
        loops_(ReduceLoopsOf(node, node.operand_type(0).layout)),
        division_(loops_),
        threads_(loops_.results * loops_.count < (32 << 10) ? 1 : threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    if (is_f64_) {
      ReduceOne<double>(args);
    } else if (&op_ == &kMoments) {
      Reduce<float, double, Sum, SumSquares>(args);
    } else if (&op_ == &kCrossMoments) {
      Reduce<float, double, Sum, SumProducts>(args);
    } else {
      ReduceOne<float>(args);
    }
    return absl::OkStatus();
  }

 private:
  // For elements and results of one type.
  template <typename E>
  void ReduceOne(const LaunchArgs& args) const {
    if (&op_ == &kReduceMax) {
      Reduce<E, E, Max>(args);
    } else if (&op_ == &kReduceMin) {
      Reduce<E, E, Min>(args);
    } else if (&op_ == &kReduceSumSquare) {
      Reduce<E, E, SumSquares>(args);
    } else {
      Reduce<E, E, Sum>(args);
    }
  }

  // For elements E, one result of type T for each J, in one pass.
  template <typename E, typename T, typename... J>
  void Reduce(const LaunchArgs& args) const {
    const int64_t tasks = loops_.groups * division_.blocks * division_.chunks;
    ParallelFor(threads_, tasks,
                [&](int64_t task) { RunTask<E, T, J...>(task, args); });
    if (division_.chunks == 1) return;
    int result = 0;
    (JoinChunksOf<T, J>(args, result++), ...);
  }

  // The totals of a result's chunks.
  double* PartialOf(const LaunchArgs& args, int result) const {
    return static_cast<double*>(args.workspace) +
           result * division_.chunks * loops_.results;
  }

  template <typename E, typename T, typename... J>
  void RunTask(int64_t task, const LaunchArgs& args) const {
    const int64_t chunk = task % division_.chunks;
    const int64_t block = task / division_.chunks % division_.blocks;
    const int64_t group = task / division_.chunks / division_.blocks;
    Totals<kLanes, J...> totals;
    const Pairs<E> all = {static_cast<const E*>(args.operands.front()),
                          static_cast<const E*>(args.operands.back())};
    const Chunk<E> c = ChunkOf(all, group, block, chunk);
    const bool has_lines = loops_.reduced.back().stride == 1;
    if (loops_.columns.stride != 1) {
      RunVectorised<JoinShortLines<E, J...>>(c, &totals);
    } else if (has_lines && loops_.columns.size == 1) {
      RunVectorised<JoinLine<E, J...>>(c, &totals);
    } else {
      RunVectorised<JoinColumns<E, J...>>(c, &totals);
    }
    for (size_t result = 0; result < sizeof...(J); ++result) {
      if (division_.chunks == 1) {
        Write(totals.of[result], group, block * kLanes, c.columns,
              static_cast<T*>(args.results[result]));
      } else {
        std::copy_n(totals.of[result], c.columns,
                    PartialOf(args, result) + chunk * loops_.results +
                        group * loops_.columns.size + block * kLanes);
      }
    }
  }

  template <typename E>
  Chunk<E> ChunkOf(Pairs<E> all, int64_t group, int64_t block,
                   int64_t chunk) const {
    const int64_t column = block * kLanes;
    int64_t offset = column * loops_.columns.stride;
    int64_t rest = group;
    for (size_t d = loops_.kept.size(); d-- > 0; rest /= loops_.kept[d].size) {
      offset += rest % loops_.kept[d].size * loops_.kept[d].stride;
    }
    const int64_t begin = chunk * division_.chunk;
    return {&loops_, all.From(offset), begin,
            std::min(begin + division_.chunk, loops_.count),
            static_cast<int>(
                std::min<int64_t>(kLanes, loops_.columns.size - column))};
  }

  int64_t ColumnsOf(int64_t group) const {
    if (loops_.padding == 0) return loops_.columns.size;
    const int64_t steps = loops_.kept.back().size;
    const bool is_last = group % steps == steps - 1;
    return loops_.columns.size - (is_last ? loops_.padding : 0);
  }

  // Totals of adjacent columns of a group, without padding.
  template <typename T>
  void Write(const double* totals, int64_t group, int64_t column,
             int64_t columns, T* y) const {
    int64_t rest = group;
    for (size_t d = loops_.kept.size(); d-- > 0; rest /= loops_.kept[d].size) {
      y += rest % loops_.kept[d].size * loops_.kept[d].to_stride;
    }
    columns = std::min(columns, ColumnsOf(group) - column);
    const double divisor =
        &op_ == &kReduceMean ? static_cast<double>(loops_.count) : 1;
    for (int64_t j = 0; j < columns; ++j) {
      y[(column + j) * loops_.columns.to_stride] =
          static_cast<T>(totals[j] / divisor);
    }
  }

  template <typename T, typename J>
  void JoinChunksOf(const LaunchArgs& args, int result) const {
    double* const partial = PartialOf(args, result);
    T* const y = static_cast<T*>(args.results[result]);
    for (int64_t chunk = 1; chunk < division_.chunks; ++chunk) {
      const double* from = partial + chunk * loops_.results;
#pragma omp simd
      for (int64_t i = 0; i < loops_.results; ++i) {
        partial[i] = J::Join(partial[i], from[i]);
      }
    }
    for (int64_t group = 0; group < loops_.groups; ++group) {
      Write(partial + group * loops_.columns.size, group, 0,
            loops_.columns.size, y);
    }
  }

  const OpDef& op_;
  const bool is_f64_;
  const ReduceLoops loops_;
  const Division division_;
  const int threads_;
};

// True if channels are kept and everything after them is reduced: padding then
// has sums of its own.
bool KeepsOnlyChannels(const OpView& node) {
  const int rank = node.operand_type(0).rank();
  std::vector<bool> reduced(rank);
  for (int64_t axis : node.attr_ints("axes")) {
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return !reduced[1] && std::all_of(reduced.begin() + 2, reduced.end(),
                                    [](bool is) { return is; });
}

// Row-major, and for images the layouts of convolutions' results.
std::vector<std::string> Layouts(const OpView& node) {
  const bool known_of_both = node.is(kReduceSum) || node.is(kReduceMean) ||
                             node.is(kReduceMax) || node.is(kReduceMin) ||
                             node.is(kReduceSumSquare);
  const bool known =
      known_of_both || node.is(kMoments) || node.is(kCrossMoments);
  if (!known) return {};
  const TensorType& x = node.operand_type(0);
  const bool is_f64 = x.dtype == DType::kF64 && known_of_both;
  if ((x.dtype != DType::kF32 && !is_f64) || x.num_elements() == 0) return {};
  std::vector<std::string> layouts = {""};
  if (x.rank() < 3 || x.rank() > 5) return layouts;
  const std::string all = std::string("abcde").substr(0, x.rank());
  layouts.push_back(absl::StrCat("a", all.substr(2), "b"));
  for (int block : {8, 16}) {
    if (x.dims[1] % block == 0 || KeepsOnlyChannels(node)) {
      layouts.push_back(absl::StrCat(all, block, "b"));
    }
  }
  return layouts;
}

}  // namespace

extern const CpuFamily kCpuReduce = {
    .kernel = "cpu.reduce",
    .version = 4,
    .bandwidth = 0.5,
    .exact = false,
    .layouts = Layouts,
    .bind = NewKernel<ReduceKernel>,
    .workspace = Workspace,
    .results_row_major = true,
};

}  // namespace partita
