// The best cut of a line of work into consecutive stages on unequal devices:
// the inner step of strategy `pipeline`. Knows no graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_
#define PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace partita {

// Bytes that a stage holds once, however many of its pieces read them.
struct StoredRead {
  int64_t bytes = 0;
  int next_piece = 0;  // that reads the same bytes; past the end if none does
};

struct LinePiece {
  std::vector<double> seconds;  // by device; infinite: cannot run there
  int64_t entering = 0;         // bytes of values that cross into it
  int64_t live = 0;             // bytes of values and workspace while it runs
  std::vector<StoredRead> stored;
  // What lies there from the forward to the backward part of a micro-batch.
  std::vector<StoredRead> kept;
};

struct StageLine {
  std::vector<LinePiece> pieces;
  // That go through the stages one behind the other. With one of them it is
  // whole steps that may overlap.
  int micro_batches = 1;
  // Each stage keeps bytes of all micro-batches, as in GPipe; else of no more
  // than there are stages from it to the end, as in 1F1B.
  bool keeps_all = false;
  std::vector<int64_t> limits;  // bytes, by device
  // Seconds to bring bytes from one device to another; infinite if it cannot.
  std::function<double(int from, int to, int64_t bytes)> transfer;
  // True if the two devices may be exchanged without any difference.
  std::function<bool(int a, int b)> equal;
  // Orders to try if there are too many; each names every usable device once.
  std::vector<std::vector<int>> likely_orders;
};

struct Stages {
  // Seconds of the slowest stage: its pieces and the transfer into it.
  double slowest = 0;
  double total = 0;          // of all stages
  std::vector<int> devices;  // by stage
  std::vector<int> ends;     // by stage: one past its last piece
};

// The stages with the least `slowest` or, with micro-batches, the least
// total + (micro_batches - 1) * slowest; then the fewest, then the least
// `total` that the search has seen; ties by the order of devices. Each stage
// has a piece, and a device of its own. `count` 0: any number. Exact over all
// orders of devices as long as those are few (kMostRows prefixes), else over
// likely_orders. Nothing if no cut is within the limits.
std::optional<Stages> SearchStages(const StageLine& line, int count);

inline constexpr int kMostRows = 400;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STAGE_SEARCH_H_
