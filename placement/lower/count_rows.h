// Vector clocks of the streams of a plan, as rows that share pages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_
#define PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "graph/ids.h"
#include "runtime/plan/plan.h"

namespace partita {

using CountRowId = Id<struct CountRowTag>;  // of one CountRows

// A row has one count per stream: how far the stream is known to have run. Rows
// consist of pages. Rows that differ little share their equal pages, and so
// need little memory.
class CountRows {
 public:
  // All its counts are 0.
  static constexpr CountRowId kNothing{0};

  explicit CountRows(size_t num_streams);

  int At(CountRowId row, StreamId stream) const {
    return pages_[rows_[BeginOf(row) + stream.index / kPage]]
                 [stream.index % kPage];
  }
  size_t num_pages() const { return pages_.size(); }

 private:
  friend class RowBuilder;
  static constexpr int kPage = 64;
  using Page = std::array<int, kPage>;

  // The index of the row's first page in rows_.
  size_t BeginOf(CountRowId row) const {
    return static_cast<size_t>(row.index) * width_;
  }

  size_t width_;           // pages per row
  std::vector<int> rows_;  // by row and page of the row: index into pages_
  std::deque<Page> pages_;
};

// Builds a row: starts as a copy of another one and raises counts.
class RowBuilder {
 public:
  // `rows` must outlive the builder.
  RowBuilder(CountRows& rows, CountRowId begin);

  int At(StreamId stream) const;
  // Takes the maximum with `row`, count by count.
  void Join(CountRowId row);
  // Raises the count of the stream to at least `count`.
  void Raise(StreamId stream, int count);
  // Adds the row and returns its id; returns the original row if no count has
  // changed.
  CountRowId Finish() const;

 private:
  using Page = CountRows::Page;
  void JoinPage(size_t place, int other);
  // The page at `place`, copied first if another row shares it.
  Page& Own(size_t place);

  CountRows& rows_;
  const CountRowId begin_;
  std::vector<int> pages_;
  std::vector<bool> is_own_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_
