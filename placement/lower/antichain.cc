// A flow that hands weight on from lives that end to lives that begin.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/antichain.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "placement/lower/flow_network.h"

namespace partita {
namespace {

// What a life knows at its begin grows along a stream, unless other streams
// touch it too; such lives make rows of their own, so that in each row the
// lives that may follow `a` are those from some point on. A row has a station
// for each life that begins in it; weight boards at the first one that knows of
// its end.
//
//   source -> life a -> station -> station -> ... -> life b -> sink
class Relay {
 public:
  explicit Relay(const std::vector<StreamLife>& lives)
      : lives_(lives),
        source_(network_.AddNode()),
        sink_(network_.AddNode()),
        row_(lives.size()),
        given_(lives.size()),
        taken_(lives.size()) {
    BuildRows();
    for (size_t i = 0; i < lives.size(); ++i) Board(static_cast<int>(i));
  }

  int64_t Run() {
    const int64_t at_once = HandOnAtOnce();
    return at_once + network_.Augment(source_, sink_);
  }

 private:
  // Weight of `life` that may board along `edge`, at a station.
  struct Boarding {
    int life;
    int edge;
    int station;
  };
  struct Station {
    int node;
    int edge_here;   // from the station before; -1 for the first
    int edge_begin;  // to the life that begins here
    std::vector<Boarding> boardings;
    int64_t change = 0;  // of what edge_here carries, to the one before
  };
  struct Row {
    int stream = 0;
    std::vector<int> lives;  // by station
    std::vector<Station> stations;
    size_t next = 0;               // station at which the next life begins
    std::vector<Boarding> aboard;  // what boarded last is behind
  };

  // In order of position each life goes to the first row of its stream whose
  // last one knows no more.
  void BuildRows() {
    std::vector<int> order(lives_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(lives_[a].stream, lives_[a].position) <
             std::pair(lives_[b].stream, lives_[b].position);
    });
    size_t first = 0;  // of the stream's rows
    for (int life : order) {
      const int stream = lives_[life].stream;
      if (!rows_.empty() && rows_.back().stream != stream) first = rows_.size();
      size_t row = first;
      while (row < rows_.size() && !GrowsAlong(rows_[row], life)) ++row;
      if (row == rows_.size()) rows_.push_back({.stream = stream});
      row_[life] = static_cast<int>(row);
      AddStation(life, rows_[row]);
    }
  }

  bool GrowsAlong(const Row& row, int life) const {
    const std::vector<int>& last = lives_[row.lives.back()].known;
    const std::vector<int>& next = lives_[life].known;
    for (size_t s = 0; s < last.size(); ++s) {
      if (next[s] < last[s]) return false;
    }
    return true;
  }

  void AddStation(int life, Row& row) {
    Station station{.node = network_.AddNode(), .edge_here = -1};
    if (!row.stations.empty()) {
      station.edge_here = network_.AddEdge(
          row.stations.back().node, station.node, FlowNetwork::kUnlimited);
    }
    const int begin = network_.AddNode();
    station.edge_begin =
        network_.AddEdge(station.node, begin, FlowNetwork::kUnlimited);
    taken_[life] = network_.AddEdge(begin, sink_, lives_[life].weight);
    row.lives.push_back(life);
    row.stations.push_back(std::move(station));
  }

  void Board(int life) {
    const int end = network_.AddNode();
    given_[life] = network_.AddEdge(source_, end, lives_[life].weight);
    for (Row& row : rows_) {
      const auto it = std::partition_point(
          row.lives.begin(), row.lives.end(),
          [&](int other) { return !EndsBefore(lives_[life], lives_[other]); });
      if (it == row.lives.end()) continue;
      const int at = static_cast<int>(it - row.lives.begin());
      Station& station = row.stations[at];
      const int edge =
          network_.AddEdge(end, station.node, FlowNetwork::kUnlimited);
      station.boardings.push_back({life, edge, at});
    }
  }

  // A flow to begin with: each life takes, in order, what boarded last before
  // it. Mostly little is missing then; of an empty flow, all that rides far
  // would be, round after round.
  int64_t HandOnAtOnce() {
    int64_t total = 0;
    for (int row : row_) total += TakeAboard(rows_[row]);
    for (const Row& row : rows_) PushAlong(row);
    return total;
  }

  // What the life of the row's next station is handed.
  int64_t TakeAboard(Row& row) {
    const size_t at = row.next++;
    Station& station = row.stations[at];
    row.aboard.insert(row.aboard.end(), station.boardings.begin(),
                      station.boardings.end());
    const int taken = taken_[row.lives[at]];
    int64_t total = 0;
    while (!row.aboard.empty() && network_.room(taken) > 0) {
      const Boarding& from = row.aboard.back();
      const int given = given_[from.life];
      const int64_t amount =
          std::min(network_.room(given), network_.room(taken));
      for (int edge : {given, from.edge, station.edge_begin, taken}) {
        network_.Push(edge, amount);
      }
      row.stations[from.station].change += amount;
      station.change -= amount;
      total += amount;
      if (network_.room(given) == 0) row.aboard.pop_back();
    }
    return total;
  }

  // What boarded rides from station to station.
  void PushAlong(const Row& row) {
    int64_t amount = 0;
    for (const Station& station : row.stations) {
      if (station.edge_here >= 0) network_.Push(station.edge_here, amount);
      amount += station.change;
    }
  }

  const std::vector<StreamLife>& lives_;
  FlowNetwork network_;
  const int source_;
  const int sink_;
  std::vector<Row> rows_;   // those of a stream behind one another
  std::vector<int> row_;    // by life
  std::vector<int> given_;  // edges from the source, by life
  std::vector<int> taken_;  // edges to the sink, by life
};

// One stream: the lives are intervals, and the answer is the highest sum.
int64_t PeakOfIntervals(const std::vector<StreamLife>& lives) {
  std::map<int, int64_t> change;
  for (const StreamLife& life : lives) {
    change[2 * life.position] += life.weight;
    change[2 * life.ends[0].second + 1] -= life.weight;
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

bool EndsBefore(const StreamLife& a, const StreamLife& b) {
  return std::all_of(a.ends.begin(), a.ends.end(), [&](const auto& end) {
    return b.known[end.first] >= end.second;
  });
}

int64_t HeaviestAntichain(const std::vector<StreamLife>& lives) {
  const bool one_stream =
      std::all_of(lives.begin(), lives.end(), [&](const StreamLife& life) {
        return life.ends.size() == 1 && life.stream == lives[0].stream &&
               life.ends[0].first == life.stream;
      });
  if (one_stream) return PeakOfIntervals(lives);
  int64_t sum = 0;
  for (const StreamLife& life : lives) sum += life.weight;
  return sum - Relay(lives).Run();
}

}  // namespace partita
