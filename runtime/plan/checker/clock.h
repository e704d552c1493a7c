// Sparse vector clocks over streams: the commands that are known to have ended.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace partita {

// Allocates and counts the nodes that clocks share. Must outlive the clocks.
class ClockNodes {
 public:
  ClockNodes() = default;
  ClockNodes(const ClockNodes&) = delete;
  ClockNodes& operator=(const ClockNodes&) = delete;

  int64_t live() const { return live_; }        // nodes that some clock uses
  int64_t visited() const { return visited_; }  // by all joins so far

 private:
  friend class Clock;
  static constexpr int kFanOutBits = 4;
  static constexpr int kFanOut = 1 << kFanOutBits;

  struct Node;
  // In a leaf: the number of commands of a stream that have ended. Else a node,
  // or null.
  union Slot {
    int64_t ended;
    Node* child;
  };
  struct Node {
    int64_t owners = 1;
    std::array<Slot, kFanOut> slots = {};
  };

  // `height` is 0 for leaves. A null node knows nothing.
  Node* New();
  static Node* AddOwner(Node* node);
  void Release(Node* node, int height);
  Node* Copy(const Node& node, int height);
  // The union of what `a` and `b` know. Returns `a` or `b` itself if it is the
  // union.
  Node* Join(Node* a, Node* b, int height);
  Node* Advance(Node* node, int height, uint32_t stream, int64_t count);

  std::vector<std::unique_ptr<Node[]>> blocks_;
  std::vector<Node*> free_;
  int64_t live_ = 0;
  int64_t visited_ = 0;
};

// For each stream, how many of its commands are known to have ended. Streams
// end commands in order, so a count identifies them. Clocks are trees over the
// streams and share equal subtrees: a copy is free, and a join costs only where
// the two clocks differ.
class Clock {
 public:
  explicit Clock(ClockNodes& nodes) : nodes_(&nodes) {}
  Clock(const Clock& other);
  Clock& operator=(const Clock& other);
  ~Clock();

  // The number of commands of `stream` that are known to have ended.
  int64_t Ended(int32_t stream) const;
  // Adds the knowledge that the first `count` commands of `stream` have ended.
  void Advance(int32_t stream, int64_t count);
  // Adds all that `other` knows.
  void Join(const Clock& other);
  // Forgets everything.
  void Clear();

 private:
  using Node = ClockNodes::Node;
  bool Covers(uint32_t stream) const;
  // Adds a level, for more streams.
  void Grow();

  ClockNodes* nodes_;
  Node* root_ = nullptr;
  int height_ = 0;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CLOCK_H_
