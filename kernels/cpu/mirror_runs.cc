// From one end of the operand to the other, and back.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/mirror_runs.h"

#include <algorithm>
#include <limits>

#include "graph/op_def.h"

namespace partita {
namespace {

constexpr size_t kMostRuns = 8;

// The run of positions from `at` on, which may be outside the operand, that
// read the operand in one direction.
MirrorRun RunFrom(int64_t at, int64_t extent, bool reflects) {
  constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();
  if (at >= 0 && at < extent) return {0, at, extent - at, 1};
  if (!reflects || extent == 1) {
    return at < 0 ? MirrorRun{0, 0, -at, 0}
                  : MirrorRun{0, extent - 1, kEndless, 0};
  }
  // Each pass goes from one end to the other.
  const int64_t way = extent - 1;
  const int64_t beyond = at < 0 ? at : at - 1;
  const int64_t phase = (beyond % way + way) % way;
  const int64_t number = (beyond - phase) / way;
  const int64_t done = at - number * way;
  return number % 2 == 0 ? MirrorRun{0, done, way - phase, 1}
                         : MirrorRun{0, way - done, way - phase, -1};
}

}  // namespace

std::vector<MirrorRun> MirrorRunsOf(const OpView& pad, int dim) {
  const int64_t extent = pad.operand_type(0).dims[dim];
  const int64_t before = pad.attr_ints("before")[dim];
  const bool reflects = pad.attr_string("mode") == "reflect";
  const int64_t end = extent + pad.attr_ints("after")[dim];
  std::vector<MirrorRun> runs;
  for (int64_t at = -before; at < end; at += runs.back().size) {
    if (runs.size() == kMostRuns) return {};
    MirrorRun run = RunFrom(at, extent, reflects);
    run.to = at + before;
    run.size = std::min(run.size, end - at);
    runs.push_back(run);
  }
  return runs;
}

}  // namespace partita
