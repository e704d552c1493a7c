// Persistent trees of counts (Bagwell, "Ideal hash trees", 2001, without the
// hash: streams are numbered).
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/clock.h"

#include <algorithm>
#include <utility>

namespace partita {
namespace {

constexpr size_t kNodesOfBlock = 256;

}  // namespace

ClockNodes::Node* ClockNodes::New() {
  if (free_.empty()) {
    blocks_.push_back(std::make_unique<Node[]>(kNodesOfBlock));
    for (size_t i = 0; i < kNodesOfBlock; ++i) {
      free_.push_back(&blocks_.back()[i]);
    }
  }
  Node* node = free_.back();
  free_.pop_back();
  *node = Node();
  ++live_;
  return node;
}

ClockNodes::Node* ClockNodes::AddOwner(Node* node) {
  if (node != nullptr) ++node->owners;
  return node;
}

void ClockNodes::Release(Node* node, int height) {
  if (node == nullptr || --node->owners > 0) return;
  if (height > 0) {
    for (const Slot& slot : node->slots) Release(slot.child, height - 1);
  }
  free_.push_back(node);
  --live_;
}

ClockNodes::Node* ClockNodes::Copy(const Node& node, int height) {
  Node* copy = New();
  copy->slots = node.slots;
  if (height > 0) {
    for (const Slot& slot : copy->slots) AddOwner(slot.child);
  }
  return copy;
}

// Two clocks that share a subtree agree on its streams, so the join stops
// there. It returns an old node where it can, which keeps later joins cheap.
ClockNodes::Node* ClockNodes::Join(Node* a, Node* b, int height) {
  if (b == nullptr || a == b) return AddOwner(a);
  if (a == nullptr) return AddOwner(b);
  ++visited_;
  bool is_a = true, is_b = true;
  std::array<Slot, kFanOut> slots;
  for (int i = 0; i < kFanOut; ++i) {
    if (height == 0) {
      slots[i].ended = std::max(a->slots[i].ended, b->slots[i].ended);
      is_a &= slots[i].ended == a->slots[i].ended;
      is_b &= slots[i].ended == b->slots[i].ended;
    } else {
      slots[i].child = Join(a->slots[i].child, b->slots[i].child, height - 1);
      is_a &= slots[i].child == a->slots[i].child;
      is_b &= slots[i].child == b->slots[i].child;
    }
  }
  // Neither covers the other: only now a new node is needed.
  if (!is_a && !is_b) {
    Node* union_node = New();
    union_node->slots = slots;
    return union_node;
  }
  if (height > 0) {
    for (const Slot& slot : slots) Release(slot.child, height - 1);
  }
  return AddOwner(is_a ? a : b);
}

// Modifies nodes that no other clock uses, and copies the others.
ClockNodes::Node* ClockNodes::Advance(Node* node, int height, uint32_t stream,
                                      int64_t count) {
  if (node == nullptr) {
    node = New();
  } else if (node->owners > 1) {
    Node* copy = Copy(*node, height);
    Release(node, height);
    node = copy;
  }
  ++visited_;
  Slot& slot = node->slots[stream >> (height * kFanOutBits) & (kFanOut - 1)];
  if (height == 0) {
    slot.ended = count;
  } else {
    slot.child = Advance(slot.child, height - 1, stream, count);
  }
  return node;
}

Clock::Clock(const Clock& other)
    : nodes_(other.nodes_),
      root_(ClockNodes::AddOwner(other.root_)),
      height_(other.height_) {}

Clock& Clock::operator=(const Clock& other) {
  // The copy takes its share before the old nodes are released, so
  // self-assignment is safe.
  Clock copy(other);
  std::swap(nodes_, copy.nodes_);
  std::swap(root_, copy.root_);
  std::swap(height_, copy.height_);
  return *this;
}

Clock::~Clock() { Clear(); }

void Clock::Clear() {
  nodes_->Release(root_, height_);
  root_ = nullptr;
  height_ = 0;
}

bool Clock::Covers(uint32_t stream) const {
  const int bits = (height_ + 1) * ClockNodes::kFanOutBits;
  return bits >= 32 || stream >> bits == 0;
}

int64_t Clock::Ended(int32_t stream) const {
  const auto number = static_cast<uint32_t>(stream);
  if (!Covers(number)) return 0;
  const Node* node = root_;
  for (int height = height_; node != nullptr; --height) {
    const ClockNodes::Slot& slot =
        node->slots[number >> (height * ClockNodes::kFanOutBits) &
                    (ClockNodes::kFanOut - 1)];
    if (height == 0) return slot.ended;
    node = slot.child;
  }
  return 0;
}

// Streams with low numbers stay in slot 0 of the new root.
void Clock::Grow() {
  if (root_ != nullptr) {
    Node* above = nodes_->New();
    above->slots[0].child = root_;
    root_ = above;
  }
  ++height_;
}

void Clock::Advance(int32_t stream, int64_t count) {
  if (Ended(stream) >= count) return;
  const auto number = static_cast<uint32_t>(stream);
  while (!Covers(number)) Grow();
  root_ = nodes_->Advance(root_, height_, number, count);
}

void Clock::Join(const Clock& other) {
  // Both trees get the same height first, so that equal paths mean equal
  // streams. The copy shares all nodes of `other`.
  Clock raised(other);
  while (raised.height_ < height_) raised.Grow();
  while (height_ < raised.height_) Grow();
  Node* union_node = nodes_->Join(root_, raised.root_, height_);
  nodes_->Release(root_, height_);
  root_ = union_node;
}

}  // namespace partita
