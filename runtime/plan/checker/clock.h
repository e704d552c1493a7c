// Sparse vector clocks over streams: which commands are known to have ended.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace partita {

// Makes the nodes that clocks share, and counts them. Must outlive the clocks.
class ClockNodes {
 public:
  ClockNodes() = default;
  ClockNodes(const ClockNodes&) = delete;
  ClockNodes& operator=(const ClockNodes&) = delete;

  int64_t live() const { return live_; }        // in some clock
  int64_t visited() const { return visited_; }  // by all joins so far

 private:
  friend class Clock;
  static constexpr int kFanOutBits = 4;
  static constexpr int kFanOut = 1 << kFanOutBits;

  struct Node;
  // Of a leaf how many commands of a stream have ended, else a node or null.
  union Slot {
    int64_t ended;
    Node* child;
  };
  struct Node {
    int64_t owners = 1;
    std::array<Slot, kFanOut> slots = {};
  };

  // `height`: 0 for leaves. Null knows of nothing.
  Node* New();
  static Node* Share(Node* node);
  void Release(Node* node, int height);
  Node* Copy(const Node& node, int height);
  // What either knows; `a` or `b` itself where it knows all.
  Node* Join(Node* a, Node* b, int height);
  Node* Advance(Node* node, int height, uint32_t stream, int64_t count);

  std::vector<std::unique_ptr<Node[]>> blocks_;
  std::vector<Node*> free_;
  int64_t live_ = 0;
  int64_t visited_ = 0;
};

// For each stream that something is known of, how many of its commands have
// ended. Streams end commands in order, so a count says which. A tree over the
// streams of which clocks share what they have in common: a copy costs nothing,
// and a join what the two differ in.
class Clock {
 public:
  explicit Clock(ClockNodes& nodes) : nodes_(&nodes) {}
  Clock(const Clock& other);
  Clock& operator=(const Clock& other);
  ~Clock();

  // Commands of `stream` that are known to have ended.
  int64_t Ended(int32_t stream) const;
  // The first `count` commands of `stream` have ended.
  void Advance(int32_t stream, int64_t count);
  // Knows all that `other` knows.
  void Join(const Clock& other);
  // Knows nothing.
  void Clear();

 private:
  using Node = ClockNodes::Node;
  bool Covers(uint32_t stream) const;
  // One level more, for more streams.
  void Grow();

  ClockNodes* nodes_;
  Node* root_ = nullptr;
  int height_ = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
