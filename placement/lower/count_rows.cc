// Pages are copied when they are first written.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/count_rows.h"

#include <algorithm>

namespace partita {

CountRows::CountRows(size_t num_streams)
    : width_((num_streams + kPage - 1) / kPage),
      rows_(width_, 0),
      pages_(1, Page{}) {}

RowBuilder::RowBuilder(CountRows& rows, CountRowId begin)
    : rows_(rows),
      begin_(begin),
      pages_(rows.rows_.begin() + rows.BeginOf(begin),
             rows.rows_.begin() + rows.BeginOf(begin) + rows.width_),
      is_own_(rows.width_, false) {}

int RowBuilder::At(StreamId stream) const {
  return rows_.pages_[pages_[stream.index / CountRows::kPage]]
                     [stream.index % CountRows::kPage];
}

RowBuilder::Page& RowBuilder::Own(size_t place) {
  if (!is_own_[place]) {
    const Page shared = rows_.pages_[pages_[place]];
    pages_[place] = static_cast<int>(rows_.pages_.size());
    rows_.pages_.push_back(shared);
    is_own_[place] = true;
  }
  return rows_.pages_[pages_[place]];
}

void RowBuilder::Raise(StreamId stream, int count) {
  if (At(stream) >= count) return;
  Own(stream.index / CountRows::kPage)[stream.index % CountRows::kPage] = count;
}

void RowBuilder::Join(CountRowId row) {
  const size_t first = rows_.BeginOf(row);
  for (size_t place = 0; place < pages_.size(); ++place) {
    const int other = rows_.rows_[first + place];
    if (other != pages_[place]) JoinPage(place, other);
  }
}

void RowBuilder::JoinPage(size_t place, int other) {
  const Page& theirs = rows_.pages_[other];
  const Page& mine = rows_.pages_[pages_[place]];
  bool knows_all = true, knows_nothing_more = true;
  for (size_t i = 0; i < mine.size(); ++i) {
    knows_all &= mine[i] >= theirs[i];
    knows_nothing_more &= mine[i] <= theirs[i];
  }
  if (knows_all) return;
  // Sharing the other page costs nothing. With many streams, most pages of
  // consecutive rows are equal.
  if (knows_nothing_more && !is_own_[place]) {
    pages_[place] = other;
    return;
  }
  Page& joined = Own(place);
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i] = std::max(joined[i], theirs[i]);
  }
}

CountRowId RowBuilder::Finish() const {
  const auto begin = rows_.rows_.begin() + rows_.BeginOf(begin_);
  // A task that learns nothing new needs no row of its own.
  if (std::equal(pages_.begin(), pages_.end(), begin)) return begin_;
  const size_t row = rows_.rows_.size() / rows_.width_;
  rows_.rows_.insert(rows_.rows_.end(), pages_.begin(), pages_.end());
  return CountRowId(static_cast<int>(row));
}

}  // namespace partita
