// Sparse vector clocks over streams.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/clock.h"

#include <algorithm>

namespace partita {
namespace {

bool BeforeStream(const std::pair<int32_t, int64_t>& entry, int32_t stream) {
  return entry.first < stream;
}

}  // namespace

Clock::Entries& Clock::Mutable() {
  if (entries_ == nullptr) {
    entries_ = std::make_shared<Entries>();
  } else if (entries_.use_count() > 1) {
    entries_ = std::make_shared<Entries>(*entries_);
  }
  return *entries_;
}

int64_t Clock::Ended(int32_t stream) const {
  if (entries_ == nullptr) return 0;
  auto it = std::lower_bound(entries_->begin(), entries_->end(), stream,
                             BeforeStream);
  return it != entries_->end() && it->first == stream ? it->second : 0;
}

void Clock::Advance(int32_t stream, int64_t count) {
  if (Ended(stream) >= count) return;
  Entries& entries = Mutable();
  auto it =
      std::lower_bound(entries.begin(), entries.end(), stream, BeforeStream);
  if (it != entries.end() && it->first == stream) {
    it->second = count;
  } else {
    entries.insert(it, {stream, count});
  }
}

void Clock::Join(const Clock& other) {
  if (other.entries_ == nullptr || other.entries_ == entries_) return;
  if (entries_ == nullptr) {
    entries_ = other.entries_;
    return;
  }
  Entries joined;
  joined.reserve(std::max(entries_->size(), other.entries_->size()));
  auto a = entries_->begin();
  auto b = other.entries_->begin();
  while (a != entries_->end() || b != other.entries_->end()) {
    if (b == other.entries_->end() ||
        (a != entries_->end() && a->first < b->first)) {
      joined.push_back(*a++);
    } else if (a == entries_->end() || b->first < a->first) {
      joined.push_back(*b++);
    } else {
      joined.push_back({a->first, std::max(a->second, b->second)});
      ++a;
      ++b;
    }
  }
  entries_ = std::make_shared<Entries>(std::move(joined));
}

}  // namespace partita
