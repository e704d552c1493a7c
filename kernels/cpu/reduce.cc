// cpu.reduce: f32 sums, means, maxima, minima over any axes, and sums beside
// sums of squares in f64, in any layout whose padding no result would take in.
// The tree of additions depends on the shape only: the reduced elements are
// divided into chunks, those of a chunk are added in strands where they are
// neighbours and else one by one, all in double.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/reduce_loops.h"
#include "kernels/team/team.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// Each takes elements into a total, and joins totals.
struct Sum {
  static constexpr double kStart = 0;
  [[gnu::always_inline]] static inline double Take(double total, double x) {
    return total + x;
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return a + b;
  }
};
struct SumSquares {
  static constexpr double kStart = 0;
  [[gnu::always_inline]] static inline double Take(double total, double x) {
    return total + x * x;
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return a + b;
  }
};
struct Max {
  static constexpr double kStart = -HUGE_VAL;
  [[gnu::always_inline]] static inline double Take(double total, double x) {
    return Join(total, x);
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct Min {
  static constexpr double kStart = HUGE_VAL;
  [[gnu::always_inline]] static inline double Take(double total, double x) {
    return Join(total, x);
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return (a < b) | (a != a) ? a : b;
  }
};

// Results side by side, whose totals stay in a core's first cache; or strands
// of one. Wide, as processors fetch ahead along rows but not from row to row.
constexpr int kLanes = 512;
constexpr int kStrands = 16;
// As many totals as registers hold.
constexpr int kHeld = 64;
// Channels of the layouts that have most of what is reduced.
constexpr int kBlock = 16;

// Elements [begin, end) of a chunk's `columns` results.
struct Chunk {
  const ReduceLoops* loops;
  const float* x;
  int64_t begin, end;
  int columns;
};

[[gnu::always_inline]] inline const float* PlaceOf(const ReduceLoops& loops,
                                                   const float* x,
                                                   int64_t element) {
  for (size_t d = loops.reduced.size(); d-- > 0;) {
    const ReduceLoops::Dim& dim = loops.reduced[d];
    x += element % dim.size * dim.stride;
    element /= dim.size;
  }
  return x;
}

// totals[j] = all elements of column j.
template <typename J>
struct JoinColumns {
  [[gnu::always_inline]] static inline void Run(Chunk c, double* totals) {
    const ReduceLoops::Dim& inner = c.loops->reduced.back();
    double lanes[kLanes];
    std::fill_n(lanes, c.columns, J::kStart);
    for (int64_t at = c.begin; at < c.end;) {
      const int64_t run = std::min(inner.size - at % inner.size, c.end - at);
      const float* x = PlaceOf(*c.loops, c.x, at);
      switch (c.columns) {
        case kHeld:
          Rows<1>(x, inner.stride, run, kHeld, lanes);
          break;
        case kBlock:
          Rows<1>(x, inner.stride, run, kBlock, lanes);
          break;
        default: {
          const int64_t fours = run / 4 * 4;
          Rows<4>(x, inner.stride, fours, c.columns, lanes);
          Rows<1>(x + fours * inner.stride, inner.stride, run - fours,
                  c.columns, lanes);
        }
      }
      at += run;
    }
    std::copy_n(lanes, c.columns, totals);
  }
  // One behind the other; `at_once` of them for each time that totals in
  // memory are loaded and stored.
  template <int at_once>
  [[gnu::always_inline]] static inline void Rows(const float* x, int64_t stride,
                                                 int64_t rows, int columns,
                                                 double* lanes) {
    for (int64_t i = 0; i < rows; i += at_once, x += at_once * stride) {
#pragma omp simd
      for (int j = 0; j < columns; ++j) {
        double total = lanes[j];
#pragma GCC unroll 4
        for (int row = 0; row < at_once; ++row) {
          total = J::Take(total, static_cast<double>(x[row * stride + j]));
        }
        lanes[j] = total;
      }
    }
  }
};

// The same for one column whose elements are neighbours.
template <typename J>
struct JoinLine {
  [[gnu::always_inline]] static inline void Run(Chunk c, double* total) {
    const ReduceLoops::Dim& inner = c.loops->reduced.back();
    double strands[kStrands];
    std::fill_n(strands, kStrands, J::kStart);
    for (int64_t at = c.begin; at < c.end;) {
      const int64_t run = std::min(inner.size - at % inner.size, c.end - at);
      Line(PlaceOf(*c.loops, c.x, at), run, strands);
      at += run;
    }
    for (int width = kStrands / 2; width > 0; width /= 2) {
      for (int s = 0; s < width; ++s) {
        strands[s] = J::Join(strands[s], strands[s + width]);
      }
    }
    *total = strands[0];
  }
  [[gnu::always_inline]] static inline void Line(const float* x, int64_t count,
                                                 double* strands) {
    int64_t i = 0;
    for (; i + kStrands <= count; i += kStrands) {
#pragma omp simd
      for (int s = 0; s < kStrands; ++s) {
        strands[s] = J::Take(strands[s], static_cast<double>(x[i + s]));
      }
    }
    for (int s = 0; i < count; ++i, ++s) {
      strands[s] = J::Take(strands[s], static_cast<double>(x[i]));
    }
  }
};

// How the work is divided: by the shape alone.
struct Division {
  explicit Division(const ReduceLoops& loops) {
    constexpr int64_t kTasks = 64;          // enough for any team
    constexpr int64_t kElements = 8 << 10;  // a task is worth its start
    blocks = (loops.columns.size + kLanes - 1) / kLanes;
    const int64_t apart = loops.groups * blocks;
    const int64_t width = std::min<int64_t>(loops.columns.size, kLanes);
    chunks = std::clamp<int64_t>(
        std::min((kTasks + apart - 1) / apart, loops.count * width / kElements),
        1, loops.count);
    chunk = (loops.count + chunks - 1) / chunks;
    // Lines keep their strands whole.
    chunk = (chunk + kStrands - 1) / kStrands * kStrands;
    chunks = (loops.count + chunk - 1) / chunk;
  }
  int64_t blocks;  // of columns
  int64_t chunks;  // of the reduced elements
  int64_t chunk;   // elements in each but the last
};

int64_t Workspace(const OpView& node, const Layout& layout, int threads) {
  const ReduceLoops loops = ReduceLoopsOf(node, layout);
  const Division division(loops);
  return division.chunks == 1
             ? 0
             : division.chunks * loops.results * int64_t{sizeof(double)} *
                   node.num_results();
}

class ReduceKernel : public BoundKernel {
 public:
  ReduceKernel(const OpView& node, int threads)
      : op_(node.op()),
        loops_(ReduceLoopsOf(node, node.operand_type(0).layout)),
        division_(loops_),
        team_(loops_.results * loops_.count < (32 << 10) ? 1 : threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    if (&op_ == &kMoments) {
      Reduce<double, Sum, SumSquares>(args);
    } else if (&op_ == &kReduceMax) {
      Reduce<float, Max>(args);
    } else if (&op_ == &kReduceMin) {
      Reduce<float, Min>(args);
    } else {
      Reduce<float, Sum>(args);
    }
    return absl::OkStatus();
  }

 private:
  // A result of type T for each J; all take a chunk while it is in the caches.
  template <typename T, typename... J>
  void Reduce(const LaunchArgs& args) const {
    const int64_t tasks = loops_.groups * division_.blocks * division_.chunks;
    RunInTeam(team_, tasks,
              [&](int64_t task) { RunTask<T, J...>(task, args); });
    if (division_.chunks == 1) return;
    int result = 0;
    (JoinChunksOf<T, J>(args, result++), ...);
  }

  template <typename T, typename... J>
  void RunTask(int64_t task, const LaunchArgs& args) const {
    int result = 0;
    (RunTaskOf<T, J>(task, args, result++), ...);
  }

  // The totals of a result's chunks.
  double* PartialOf(const LaunchArgs& args, int result) const {
    return static_cast<double*>(args.workspace) +
           result * division_.chunks * loops_.results;
  }

  template <typename T, typename J>
  void RunTaskOf(int64_t task, const LaunchArgs& args, int result) const {
    const int64_t chunk = task % division_.chunks;
    const int64_t block = task / division_.chunks % division_.blocks;
    const int64_t group = task / division_.chunks / division_.blocks;
    double totals[kLanes];
    const Chunk c = ChunkOf(static_cast<const float*>(args.operands[0]), group,
                            block, chunk);
    loops_.columns.size > 1
        ? RunVectorised<JoinColumns<J>>(c, static_cast<double*>(totals))
        : RunVectorised<JoinLine<J>>(c, static_cast<double*>(totals));
    if (division_.chunks == 1) {
      Write(totals, group, block * kLanes, c.columns,
            static_cast<T*>(args.results[result]));
    } else {
      std::copy_n(totals, c.columns,
                  PartialOf(args, result) + chunk * loops_.results +
                      group * loops_.columns.size + block * kLanes);
    }
  }

  Chunk ChunkOf(const float* x, int64_t group, int64_t block,
                int64_t chunk) const {
    int64_t rest = group;
    for (size_t d = loops_.kept.size(); d-- > 0; rest /= loops_.kept[d].size) {
      x += rest % loops_.kept[d].size * loops_.kept[d].stride;
    }
    const int64_t column = block * kLanes;
    const int64_t begin = chunk * division_.chunk;
    return {&loops_, x + column, begin,
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

  // Totals of neighbouring columns of a group, without padding.
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
  const ReduceLoops loops_;
  const Division division_;
  const int team_;
};

// True if channels are kept and all behind them is reduced: then padding would
// only be sums of its own.
bool KeepsOnlyChannels(const OpView& node) {
  const int rank = node.operand_type(0).rank();
  std::vector<bool> reduced(rank);
  for (int64_t axis : node.attr_ints("axes")) {
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  return !reduced[1] && std::all_of(reduced.begin() + 2, reduced.end(),
                                    [](bool is) { return is; });
}

// Row-major, and of images those in which convolutions leave them.
std::vector<std::string> Layouts(const OpView& node) {
  const bool known = node.is(kReduceSum) || node.is(kReduceMean) ||
                     node.is(kReduceMax) || node.is(kReduceMin) ||
                     node.is(kMoments);
  if (!known) return {};
  const TensorType& x = node.operand_type(0);
  if (x.dtype != DType::kF32 || x.num_elements() == 0) return {};
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

std::unique_ptr<BoundKernel> Bind(const OpView& node, int threads) {
  return std::make_unique<ReduceKernel>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuReduce = {
    .kernel = "cpu.reduce",
    .version = 3,
    .bandwidth = 0.5,
    .exact = false,
    .layouts = Layouts,
    .bind = Bind,
    .workspace = Workspace,
    .results_row_major = true,
};

}  // namespace partita
