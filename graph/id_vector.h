// A vector with one element for each id of a kind.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ID_VECTOR_H_
#define PARTITA_GRAPH_ID_VECTOR_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace partita {

// The ids 0 .. size - 1, for range-based loops.
template <typename IdType>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(int32_t index) : index_(index) {}
    IdType operator*() const { return IdType(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    int32_t index_;
  };

  explicit IdRange(size_t size) : size_(static_cast<int32_t>(size)) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(size_); }

 private:
  int32_t size_;
};

// Indexed by `IdType` (ids.h) only, so that an index of another kind does not
// compile. The id must be valid and less than size().
template <typename IdType, typename T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size, const T& value = T()) : list_(size, value) {}

  typename std::vector<T>::reference operator[](IdType id) {
    return list_[id.index];
  }
  typename std::vector<T>::const_reference operator[](IdType id) const {
    return list_[id.index];
  }
  // Adds an element; returns its id.
  IdType Add(T value) {
    list_.push_back(std::move(value));
    return IdType(static_cast<int32_t>(list_.size()) - 1);
  }

  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  IdRange<IdType> ids() const { return IdRange<IdType>(size()); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<T> list_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ID_VECTOR_H_
