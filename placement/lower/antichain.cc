// Maximum flow from lives that end to lives that begin.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/antichain.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>

namespace partita {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

// What a life knows at its begin grows along a stream, unless other streams
// touch it too; so per stream the lives that may follow `a` are those from some
// point on. Each stream is a row of stations, one for each life that begins in
// it; weight boards at the first station that knows of its end.
//
//   source -> life a -> station -> station -> ... -> life b -> sink
class Flow {
 public:
  explicit Flow(const std::vector<StreamLife>& lives) : lives_(lives) {
    const int n = static_cast<int>(lives.size());
    first_edge_.assign(2 * n + 2, -1);
    for (int i = 0; i < n; ++i) rows_[lives[i].stream].push_back(i);
    for (auto& [stream, row] : rows_) BuildRow(row);
    for (int i = 0; i < n; ++i) {
      AddEdge(Source(), End(i), lives[i].weight);
      AddEdge(Begin(i), Sink(), lives[i].weight);
      Board(i);
    }
  }

  int64_t Run() {
    int64_t total = 0;
    while (const int64_t pushed = Augment()) total += pushed;
    return total;
  }

 private:
  struct Edge {
    int to;
    int next;
    int64_t capacity;
  };
  int Source() const { return 2 * static_cast<int>(lives_.size()); }
  int Sink() const { return Source() + 1; }
  int End(int life) const { return life; }
  int Begin(int life) const { return static_cast<int>(lives_.size()) + life; }

  int AddEdge(int from, int to, int64_t capacity) {
    edges_.push_back({to, first_edge_[from], capacity});
    first_edge_[from] = static_cast<int>(edges_.size()) - 1;
    edges_.push_back({from, first_edge_[to], 0});
    first_edge_[to] = static_cast<int>(edges_.size()) - 1;
    return static_cast<int>(edges_.size()) - 2;
  }

  // Lives of one row in order of position; those that know less than an earlier
  // one stand outside the row and are boarded one by one.
  void BuildRow(std::vector<int>& row) {
    std::stable_sort(row.begin(), row.end(), [&](int a, int b) {
      return lives_[a].position < lives_[b].position;
    });
    std::vector<int> kept;
    std::vector<int> known;
    for (int life : row) {
      const std::vector<int>& mine = lives_[life].known;
      bool grows = true;
      for (size_t s = 0; s < known.size(); ++s) grows &= mine[s] >= known[s];
      if (!grows) {
        loose_.push_back(life);
        continue;
      }
      known = mine;
      first_edge_.push_back(-1);
      const int station = static_cast<int>(first_edge_.size()) - 1;
      if (!kept.empty()) AddEdge(station - 1, station, kUnlimited);
      AddEdge(station, Begin(life), kUnlimited);
      if (kept.empty()) first_station_[lives_[life].stream] = station;
      kept.push_back(life);
    }
    row = std::move(kept);
  }

  void Board(int life) {
    for (const auto& [stream, row] : rows_) {
      const auto it = std::partition_point(
          row.begin(), row.end(),
          [&](int other) { return !EndsBefore(lives_[life], lives_[other]); });
      if (it == row.end()) continue;
      AddEdge(End(life),
              first_station_.at(stream) + static_cast<int>(it - row.begin()),
              kUnlimited);
    }
    for (int other : loose_) {
      if (EndsBefore(lives_[life], lives_[other])) {
        AddEdge(End(life), Begin(other), kUnlimited);
      }
    }
  }

  // Levels by breadth-first search from the source; 0 at the source.
  bool FindLevels() {
    level_.assign(first_edge_.size(), -1);
    std::deque<int> queue = {Source()};
    level_[Source()] = 0;
    while (!queue.empty()) {
      const int node = queue.front();
      queue.pop_front();
      for (int e = first_edge_[node]; e >= 0; e = edges_[e].next) {
        if (edges_[e].capacity == 0 || level_[edges_[e].to] >= 0) continue;
        level_[edges_[e].to] = level_[node] + 1;
        queue.push_back(edges_[e].to);
      }
    }
    return level_[Sink()] >= 0;
  }

  // A blocking flow over the levels (Dinic), without recursion: rows are long.
  int64_t Augment() {
    if (!FindLevels()) return 0;
    std::vector<int> current = first_edge_;
    std::vector<int> path;
    int64_t total = 0;
    int node = Source();
    while (true) {
      if (node == Sink()) {
        total += PushAlong(path, node);
        continue;
      }
      int& e = current[node];
      while (e >= 0 && (edges_[e].capacity == 0 ||
                        level_[edges_[e].to] != level_[node] + 1)) {
        e = edges_[e].next;
      }
      if (e >= 0) {
        path.push_back(e);
        node = edges_[e].to;
      } else if (path.empty()) {
        return total;
      } else {
        level_[node] = -1;
        node = edges_[path.back() ^ 1].to;
        path.pop_back();
      }
    }
  }

  // Pushes what the path takes and goes back to before its first full edge.
  int64_t PushAlong(std::vector<int>& path, int& node) {
    int64_t amount = kUnlimited;
    for (int e : path) amount = std::min(amount, edges_[e].capacity);
    size_t keep = path.size();
    for (size_t i = path.size(); i-- > 0;) {
      edges_[path[i]].capacity -= amount;
      edges_[path[i] ^ 1].capacity += amount;
      if (edges_[path[i]].capacity == 0) keep = i;
    }
    path.resize(keep);
    node = path.empty() ? Source() : edges_[path.back()].to;
    return amount;
  }

  const std::vector<StreamLife>& lives_;
  std::map<int, std::vector<int>> rows_;  // by stream
  std::map<int, int> first_station_;      // by stream
  std::vector<int> loose_;
  std::vector<Edge> edges_;
  std::vector<int>
      first_edge_;  // by node: ends, begins, source, sink, stations
  std::vector<int> level_;
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
  return sum - Flow(lives).Run();
}

}  // namespace partita
