// Dynamic programming over segments, with a row for each sequence of devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/stage_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The best stages for the first j segments on the devices of a row.
struct Cell {
  double slowest = kNever;
  double total = kNever;
  int from = -1;  // where the last stage begins
};
using Row = std::vector<Cell>;

// For one order of devices this is the dynamic program of PipeDream (Narayanan
// et al. 2019): the best split of the first j segments over the first n devices
// follows from splits over n - 1. Unequal devices make their order matter. The
// search goes through orders depth first, and orders with a common prefix
// share its rows.
class Search {
 public:
  Search(const StageLine& line, int count)
      : line_(line),
        count_(count),
        segments_(static_cast<int>(line.segments.size())),
        devices_(static_cast<int>(line.limits.size())),
        used_(line.limits.size(), false) {}

  std::optional<Stages> Run() {
    Row start(segments_ + 1);
    start[0] = {0, 0, -1};
    rows_.push_back(std::move(start));
    if (CountPrefixes() <= kMostRows) {
      Extend();
    } else {
      for (const std::vector<LineDeviceId>& order : line_.likely_orders) {
        Follow(order);
      }
    }
    return std::move(best_);
  }

 private:
  int most_stages() const {
    return std::min(count_ > 0 ? count_ : devices_, segments_);
  }

  // Only the first of several equal unused devices is tried.
  // A permutation of equal devices changes no result. Without this rule, n
  // equal devices alone would give n! orders.
  bool IsFirstOfItsKind(LineDeviceId device) const {
    for (LineDeviceId other : line_.limits.ids()) {
      if (other == device) break;
      if (!used_[other] && line_.equal(other, device)) return false;
    }
    return true;
  }

  // Stops counting past kMostRows.
  int CountPrefixes() {
    int count = 0;
    CountFrom(0, count);
    return count;
  }
  void CountFrom(int depth, int& count) {
    if (depth == most_stages()) return;
    for (LineDeviceId d : line_.limits.ids()) {
      if (count > kMostRows) return;
      if (used_[d] || !IsFirstOfItsKind(d)) continue;
      ++count;
      used_[d] = true;
      CountFrom(depth + 1, count);
      used_[d] = false;
    }
  }

  void Extend() {
    if (static_cast<int>(order_.size()) == most_stages()) return;
    for (LineDeviceId d : line_.limits.ids()) {
      if (used_[d] || !IsFirstOfItsKind(d)) continue;
      Push(d);
      Extend();
      Pop();
    }
  }

  void Follow(const std::vector<LineDeviceId>& order) {
    for (LineDeviceId d : order) {
      if (static_cast<int>(order_.size()) == most_stages()) break;
      Push(d);
    }
    while (!order_.empty()) Pop();
  }

  void Push(LineDeviceId device) {
    rows_.push_back(NextRow(device));
    order_.push_back(device);
    used_[device] = true;
    Judge();
  }
  void Pop() {
    used_[order_.back()] = false;
    order_.pop_back();
    rows_.pop_back();
  }

  // For every end j, moves the start i of the stage back. Seconds and bytes
  // only grow, so the loop ends at the first i that exceeds a limit.
  Row NextRow(LineDeviceId device) const {
    const Row& before = rows_.back();
    Row row(segments_ + 1);
    for (int j = 1; j <= segments_; ++j) {
      double seconds = 0;
      int64_t stored = 0, live = 0, kept = 0;
      for (int i = j - 1; i >= 0; --i) {
        const SegmentId begin(i);
        const LineSegment& segment = line_.segments[begin];
        seconds += segment.seconds[device];
        live = std::max(live, segment.live);
        for (const StoredRead& read : segment.stored) {
          if (read.next_segment.index >= j) stored += read.bytes;
        }
        for (const StoredRead& read : segment.kept) {
          if (read.next_segment.index >= j) kept += read.bytes;
        }
        // A longer stage is slower than the best one found for j.
        if (seconds > row[j].slowest || seconds == kNever) break;
        if (stored + live + InFlight() * kept > line_.limits[device]) break;
        Improve(row[j], before[i], i, seconds + Entering(begin, device));
      }
    }
    return row;
  }

  // Micro-batches in flight between the forward and backward part of the next
  // stage.
  int InFlight() const {
    const int stages_left =
        std::max(1, most_stages() - static_cast<int>(order_.size()));
    return line_.keeps_all ? line_.micro_batches
                           : std::min(line_.micro_batches, stages_left);
  }

  // Seconds of a step if micro-batches follow each other without a gap.
  double Measure(double slowest, double total) const {
    if (line_.micro_batches == 1) return slowest;
    return total + (line_.micro_batches - 1) * slowest;
  }

  double Entering(SegmentId segment, LineDeviceId device) const {
    if (order_.empty()) return 0;
    return line_.transfer(order_.back(), device,
                          line_.segments[segment].entering);
  }

  static void Improve(Cell& cell, const Cell& before, int from, double stage) {
    const double slowest = std::max(before.slowest, stage);
    const double total = before.total + stage;
    if (!(slowest < kNever)) return;
    // The slowest stage decides the rate of the pipeline. The total only breaks
    // ties, so with micro-batches, where both count, the result need not be the
    // optimum.
    if (std::tie(slowest, total) >= std::tie(cell.slowest, cell.total)) return;
    cell = {slowest, total, from};
  }

  void Judge() {
    const Cell& end = rows_.back()[segments_];
    const int stages = static_cast<int>(order_.size());
    if (end.slowest == kNever || (count_ > 0 && stages != count_)) return;
    if (best_.has_value()) {
      const int best_stages = static_cast<int>(best_->devices.size());
      const double measure = Measure(end.slowest, end.total);
      const double best = Measure(best_->slowest, best_->total);
      if (std::tie(measure, stages, end.total) >=
          std::tie(best, best_stages, best_->total)) {
        return;
      }
    }
    best_ = Stages{end.slowest, end.total, order_, {}};
    int j = segments_;
    for (int stage = stages; stage >= 1; --stage) {
      best_->ends.insert(best_->ends.begin(), SegmentId(j));
      j = rows_[stage][j].from;
    }
  }

  const StageLine& line_;
  const int count_;
  const int segments_;
  const int devices_;
  std::vector<Row> rows_;            // one more than order_
  std::vector<LineDeviceId> order_;  // devices of the stages so far
  IdVector<LineDeviceId, bool> used_;
  std::optional<Stages> best_;
};

}  // namespace

std::optional<Stages> SearchStages(const StageLine& line, int count) {
  if (line.segments.empty()) return std::nullopt;
  return Search(line, count).Run();
}

}  // namespace partita
