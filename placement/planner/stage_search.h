// Finds the best split of a line of segments into consecutive stages on unequal
// devices, the inner step of strategy `pipeline`. Independent of graphs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_
#define PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"

namespace partita {

using SegmentId = Id<struct SegmentTag>;        // of one StageLine, in order
using LineDeviceId = Id<struct LineDeviceTag>;  // a device of one StageLine

// Bytes that a stage stores once for all its segments that read them.
struct StoredRead {
  int64_t bytes = 0;
  SegmentId next_segment;  // next reader; one past the last if there is none
};

struct LineSegment {
  IdVector<LineDeviceId, double> seconds;  // infinite if it cannot run
  int64_t entering = 0;                    // bytes of values that cross into it
  int64_t live = 0;  // bytes of values and workspace while it runs
  std::vector<StoredRead> stored;
  // Bytes kept from the forward to the backward part of a micro-batch.
  std::vector<StoredRead> kept;
};

struct StageLine {
  IdVector<SegmentId, LineSegment> segments;
  // How many micro-batches go through the stages in sequence. If there is one,
  // whole steps may overlap.
  int micro_batches = 1;
  // True: each stage keeps bytes of all micro-batches, as in GPipe. False: of
  // as many micro-batches as there are stages from it to the end, as in 1F1B.
  bool keeps_all = false;
  IdVector<LineDeviceId, int64_t> limits;  // bytes
  // Seconds to copy bytes between two devices; infinite without a link.
  std::function<double(LineDeviceId from, LineDeviceId to, int64_t bytes)>
      transfer;
  // True if the two devices are interchangeable.
  std::function<bool(LineDeviceId a, LineDeviceId b)> equal;
  // The orders of devices to try if there are too many; each has every usable
  // device once.
  std::vector<std::vector<LineDeviceId>> likely_orders;
};

struct Stages {
  // Seconds of the slowest stage: its segments and the transfer into it.
  double slowest = 0;
  double total = 0;                   // of all stages
  std::vector<LineDeviceId> devices;  // by stage
  std::vector<SegmentId> ends;        // by stage: one past its last segment
};

// The stages with the least `slowest` or, with micro-batches, the least total +
// (micro_batches - 1) * slowest. Ties go to fewer stages, then to the least
// `total` that the search found, then to the order of devices. Each stage has
// at least one segment and its own device. `count` 0: any number of stages.
// Tries all orders of devices if they have at most kMostRows prefixes,
// otherwise only likely_orders. Nothing if no split is within the limits.
std::optional<Stages> SearchStages(const StageLine& line, int count);

inline constexpr int kMostRows = 400;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_
