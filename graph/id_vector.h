// A vector with one element for each id of a kind.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ID_VECTOR_H_
#define PARTITA_GRAPH_ID_VECTOR_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace partita {

// Consecutive ids, for loops and algorithms.
template <typename IdType>
class IdRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = IdType;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = IdType;

    Iterator() = default;
    explicit Iterator(int32_t index) : index_(index) {}
    IdType operator*() const { return IdType(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(index_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    int32_t index_ = 0;
  };

  // The ids 0 .. size - 1.
  explicit IdRange(size_t size) : IdRange(IdType(0), size) {}
  // `size` ids from `first` on.
  IdRange(IdType first, size_t size)
      : begin_(first.index), end_(first.index + static_cast<int32_t>(size)) {}
  // Needs: not empty.
  IdType front() const { return IdType(begin_); }
  size_t size() const { return end_ - begin_; }
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  int32_t begin_;
  int32_t end_;
};

// Indexed by `IdType` (ids.h) only, so that an index of another kind does not
// compile. The id must be valid and less than size().
template <typename IdType, typename T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(size_t size) : list_(size) {}
  explicit IdVector(size_t size, const T& value) : list_(size, value) {}

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

  void reserve(size_t size) { list_.reserve(size); }
  void assign(size_t size, const T& value) { list_.assign(size, value); }

  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const T* data() const { return list_.data(); }
  IdRange<IdType> ids() const { return IdRange<IdType>(size()); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> list_;
};

// Elements of a vector that ids of a kind index. The elements must outlive it.
template <typename IdType, typename T>
class IdSpan {
 public:
  IdSpan(const T* data, size_t size) : data_(data), size_(size) {}
  explicit IdSpan(const std::vector<T>& list)
      : IdSpan(list.data(), list.size()) {}
  // Implicit, so that a function that takes a span takes a vector too.
  IdSpan(const IdVector<IdType, T>& list)  // NOLINT(runtime/explicit)
      : IdSpan(list.data(), list.size()) {}

  const T& operator[](IdType id) const { return data_[id.index]; }
  size_t size() const { return size_; }
  IdRange<IdType> ids() const { return IdRange<IdType>(size_); }

 private:
  const T* data_;
  size_t size_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_ID_VECTOR_H_
