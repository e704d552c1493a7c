// What many know of the streams of a plan, in rows that share their pages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_
#define PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

namespace partita {

// A row has a count for each stream: how far it is known to have got. A row
// that differs little from another one takes little room, as rows are made of
// pages and have those in common that are alike.
class CountRows {
 public:
  // Row 0 knows nothing.
  static constexpr int kNothing = 0;

  explicit CountRows(size_t num_streams);

  int At(int row, int stream) const {
    return pages_[rows_[static_cast<size_t>(row) * width_ + stream / kPage]]
                 [stream % kPage];
  }
  size_t num_pages() const { return pages_.size(); }

 private:
  friend class RowInMaking;
  static constexpr int kPage = 64;
  using Page = std::array<int, kPage>;

  const size_t width_;     // pages of a row
  std::vector<int> rows_;  // row by place: a page
  std::deque<Page> pages_;
};

// A row that begins as another one and learns more.
class RowInMaking {
 public:
  // `rows` must outlive it.
  RowInMaking(CountRows& rows, int begin);

  int At(int stream) const;
  // Knows all that `row` knows.
  void Join(int row);
  // The stream has got to `count` at least.
  void Raise(int stream, int count);
  // The finished row: the one that it began as, if it has learned nothing.
  int Finish() const;

 private:
  using Page = CountRows::Page;
  void JoinPage(size_t place, int other);
  // The page at `place`, as one that no row has.
  Page& Own(size_t place);

  CountRows& rows_;
  const int begin_;
  std::vector<int> pages_;
  std::vector<bool> is_own_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_COUNT_ROWS_H_
