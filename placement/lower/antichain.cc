// The heaviest antichain as a maximum flow.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/antichain.h"

#include <algorithm>
#include <map>

#include "placement/lower/flow_network.h"

namespace partita {
namespace {

using RangeId = Id<struct RangeTag>;  // of the live ranges, in their order

// The flow network. Weight flows from a live range that has ended to one that
// begins after that end and so can reuse its bytes.
//
// The live ranges of one stream form rows. Along a row, `known` never
// decreases, so the live ranges that may follow `a` are a suffix of each row. A
// live range that other streams access too may know less than an earlier one of
// its stream; it starts another row. Each live range has one node in its row.
// The end of `a` has one edge into each row, to the first node of the suffix.
//
//   source -> end of a -> row node -> row node -> ... -> start of b -> sink
//
// By Dilworth's theorem in Fulkerson's form (1956), the heaviest antichain
// weighs as much as the cheapest cover by chains: all weight less what chains
// pass on. An edge for each ordered pair would be quadratic in the live ranges.
// Rows give each end one edge per row instead.
class ReuseNetwork {
 public:
  explicit ReuseNetwork(const std::vector<StreamLiveRange>& live_ranges)
      : live_ranges_(live_ranges),
        source_(network_.AddNode()),
        sink_(network_.AddNode()),
        row_(live_ranges.size()),
        source_edges_(live_ranges.size()),
        sink_edges_(live_ranges.size()) {
    BuildRows();
    for (RangeId live_range : live_ranges_.ids()) AddReuseEdges(live_range);
  }

  int64_t Run() {
    const int64_t greedy = GreedyFlow();
    return greedy + network_.Augment(source_, sink_);
  }

 private:
  // Weight of `live_range` enters the row at `node` along `edge`.
  struct ReuseEdge {
    RangeId live_range;
    NetworkEdgeId edge;
    size_t node;
  };
  struct RowNode {
    NetworkNodeId id;
    NetworkEdgeId edge_here;   // from the previous node; invalid for the first
    NetworkEdgeId edge_begin;  // to the live range that begins here
    std::vector<ReuseEdge> reuse_edges;
    int64_t change = 0;  // flow that enters here less flow that leaves
  };
  struct Row {
    DeviceStreamId stream;
    std::vector<RangeId> live_ranges;  // by node
    std::vector<RowNode> nodes;
    size_t next = 0;                   // the next node that GreedyFlow visits
    std::vector<ReuseEdge> available;  // latest last
  };

  // Visits live ranges by position. Each joins the first row of its stream
  // whose last live range knows no more than it does.
  void BuildRows() {
    const IdRange<RangeId> ids = live_ranges_.ids();
    std::vector<RangeId> order(ids.begin(), ids.end());
    std::stable_sort(order.begin(), order.end(), [&](RangeId a, RangeId b) {
      return std::pair(live_ranges_[a].stream, live_ranges_[a].position) <
             std::pair(live_ranges_[b].stream, live_ranges_[b].position);
    });
    size_t first = 0;  // of the stream's rows
    for (RangeId live_range : order) {
      const DeviceStreamId stream = live_ranges_[live_range].stream;
      if (!rows_.empty() && rows_.back().stream != stream) first = rows_.size();
      // First fit. A stream that alone accesses its live ranges needs one row,
      // as its knowledge only grows.
      size_t row = first;
      while (row < rows_.size() && !GrowsAlong(rows_[row], live_range)) ++row;
      if (row == rows_.size()) rows_.push_back({.stream = stream});
      row_[live_range] = row;
      AddRowNode(live_range, rows_[row]);
    }
  }

  bool GrowsAlong(const Row& row, RangeId live_range) const {
    const auto& last = live_ranges_[row.live_ranges.back()].known;
    const auto& next = live_ranges_[live_range].known;
    for (DeviceStreamId s : last.ids()) {
      if (next[s] < last[s]) return false;
    }
    return true;
  }

  void AddRowNode(RangeId live_range, Row& row) {
    RowNode node{.id = network_.AddNode()};
    if (!row.nodes.empty()) {
      node.edge_here = network_.AddEdge(row.nodes.back().id, node.id,
                                        FlowNetwork::kUnlimited);
    }
    const NetworkNodeId begin = network_.AddNode();
    node.edge_begin = network_.AddEdge(node.id, begin, FlowNetwork::kUnlimited);
    sink_edges_[live_range] =
        network_.AddEdge(begin, sink_, live_ranges_[live_range].weight);
    row.live_ranges.push_back(live_range);
    row.nodes.push_back(std::move(node));
  }

  void AddReuseEdges(RangeId live_range) {
    const NetworkNodeId end = network_.AddNode();
    source_edges_[live_range] =
        network_.AddEdge(source_, end, live_ranges_[live_range].weight);
    for (Row& row : rows_) {
      // Binary search, as `known` grows along a row: whoever follows an earlier
      // node in the row follows later ones too.
      const auto it = std::partition_point(
          row.live_ranges.begin(), row.live_ranges.end(), [&](RangeId other) {
            return !EndsBefore(live_ranges_[live_range], live_ranges_[other]);
          });
      if (it == row.live_ranges.end()) continue;
      const size_t at = it - row.live_ranges.begin();
      RowNode& node = row.nodes[at];
      const NetworkEdgeId edge =
          network_.AddEdge(end, node.id, FlowNetwork::kUnlimited);
      node.reuse_edges.push_back({live_range, edge, at});
    }
  }

  // The initial flow: each live range, in order, takes weight from the latest
  // entries of its row. It is nearly maximal in most cases. From an empty flow,
  // Augment would need a round for each length of path.
  int64_t GreedyFlow() {
    int64_t total = 0;
    for (size_t row : row_) total += FillLiveRange(rows_[row]);
    for (const Row& row : rows_) PushAlongRow(row);
    return total;
  }

  // Returns the flow into the live range of the next node of the row.
  int64_t FillLiveRange(Row& row) {
    const size_t at = row.next++;
    RowNode& node = row.nodes[at];
    row.available.insert(row.available.end(), node.reuse_edges.begin(),
                         node.reuse_edges.end());
    const NetworkEdgeId sink_edge = sink_edges_[row.live_ranges[at]];
    int64_t total = 0;
    while (!row.available.empty() && network_.room(sink_edge) > 0) {
      const ReuseEdge& from = row.available.back();
      const NetworkEdgeId source_edge = source_edges_[from.live_range];
      const int64_t amount =
          std::min(network_.room(source_edge), network_.room(sink_edge));
      for (NetworkEdgeId edge :
           {source_edge, from.edge, node.edge_begin, sink_edge}) {
        network_.Push(edge, amount);
      }
      row.nodes[from.node].change += amount;
      node.change -= amount;
      total += amount;
      if (network_.room(source_edge) == 0) row.available.pop_back();
    }
    return total;
  }

  // Sets the flow on the edges between the nodes of a row.
  void PushAlongRow(const Row& row) {
    int64_t amount = 0;
    for (const RowNode& node : row.nodes) {
      if (node.edge_here.valid()) network_.Push(node.edge_here, amount);
      amount += node.change;
    }
  }

  const IdSpan<RangeId, StreamLiveRange> live_ranges_;
  FlowNetwork network_;
  const NetworkNodeId source_;
  const NetworkNodeId sink_;
  std::vector<Row> rows_;          // rows of one stream are adjacent
  IdVector<RangeId, size_t> row_;  // index into rows_
  IdVector<RangeId, NetworkEdgeId> source_edges_;  // from the source
  IdVector<RangeId, NetworkEdgeId> sink_edges_;    // to the sink
};

// With one stream, live ranges are intervals; the answer is the peak of their
// sum.
int64_t PeakOfIntervals(const std::vector<StreamLiveRange>& live_ranges) {
  std::map<int, int64_t> change;
  for (const StreamLiveRange& live_range : live_ranges) {
    // Positions are doubled so that an end at a position comes after all begins
    // there: a range that ends at a task still has its bytes while the task
    // runs.
    change[2 * live_range.position] += live_range.weight;
    change[2 * live_range.ends[0].second + 1] -= live_range.weight;
  }
  int64_t sum = 0;
  int64_t peak = 0;
  for (const auto& [at, weight] : change) {
    sum += weight;
    peak = std::max(peak, sum);
  }
  return peak;
}

}  // namespace

bool EndsBefore(const StreamLiveRange& a, const StreamLiveRange& b) {
  return std::all_of(a.ends.begin(), a.ends.end(), [&](const auto& end) {
    return b.known[end.first] >= end.second;
  });
}

int64_t HeaviestAntichain(const std::vector<StreamLiveRange>& live_ranges) {
  const bool one_stream =
      std::all_of(live_ranges.begin(), live_ranges.end(),
                  [&](const StreamLiveRange& live_range) {
                    return live_range.ends.size() == 1 &&
                           live_range.stream == live_ranges[0].stream &&
                           live_range.ends[0].first == live_range.stream;
                  });
  if (one_stream) return PeakOfIntervals(live_ranges);
  // Otherwise the flow: weight that reuses the bytes of an earlier live range
  // needs no bytes of its own.
  int64_t sum = 0;
  for (const StreamLiveRange& live_range : live_ranges) {
    sum += live_range.weight;
  }
  return sum - ReuseNetwork(live_ranges).Run();
}

}  // namespace partita
