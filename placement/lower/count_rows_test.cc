// Tests of rows of counts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/count_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "graph/id_vector.h"

namespace partita {
namespace {

TEST(CountRows, ARowThatLearnsNothingIsNotCopied) {
  CountRows rows(100);
  RowBuilder made(rows, CountRows::kNothing);
  made.Raise(StreamId(70), 3);
  const CountRowId row = made.Finish();
  EXPECT_EQ(rows.At(row, StreamId(70)), 3);
  EXPECT_EQ(rows.At(CountRows::kNothing, StreamId(70)), 0);
  RowBuilder same(rows, row);
  same.Raise(StreamId(70), 2);
  same.Join(CountRows::kNothing);
  EXPECT_EQ(same.Finish(), row);
}

TEST(CountRows, JoiningALargerRowSharesItsPages) {
  CountRows rows(1000);
  RowBuilder made(rows, CountRows::kNothing);
  for (StreamId stream : IdRange<StreamId>(1000)) made.Raise(stream, 1);
  const CountRowId all = made.Finish();
  const size_t pages = rows.num_pages();
  RowBuilder learns(rows, CountRows::kNothing);
  learns.Join(all);
  const CountRowId learned = learns.Finish();
  EXPECT_EQ(rows.num_pages(), pages);
  EXPECT_EQ(rows.At(learned, StreamId(999)), 1);
  RowBuilder goes_on(rows, learned);
  goes_on.Raise(StreamId(5), 2);
  EXPECT_EQ(rows.At(goes_on.Finish(), StreamId(5)), 2);
  EXPECT_EQ(rows.num_pages(), pages + 1);
  EXPECT_EQ(rows.At(all, StreamId(5)), 1);
}

// Compares with plain vectors; two rows are built at a time.
TEST(CountRows, EqualPlainVectorsOfMaxima) {
  constexpr int kStreams = 150;
  std::mt19937_64 random(7);
  CountRows rows(kStreams);
  using Counts = IdVector<StreamId, int>;
  std::vector<Counts> plain = {Counts(kStreams, 0)};
  std::vector<CountRowId> finished = {CountRows::kNothing};
  for (int i = 0; i < 300; ++i) {
    const size_t a = random() % plain.size(), b = random() % plain.size();
    RowBuilder first(rows, finished[a]), second(rows, finished[b]);
    Counts of_first = plain[a], of_second = plain[b];
    for (int n = 0; n < 8; ++n) {
      const StreamId stream(static_cast<int>(random() % kStreams));
      const int count = static_cast<int>(random() % 50);
      const size_t joined = random() % plain.size();
      const bool is_first = random() % 2 == 0;
      RowBuilder& row = is_first ? first : second;
      Counts& counts = is_first ? of_first : of_second;
      if (random() % 2 == 0) {
        row.Raise(stream, count);
        counts[stream] = std::max(counts[stream], count);
      } else {
        row.Join(finished[joined]);
        for (StreamId s : counts.ids()) {
          counts[s] = std::max(counts[s], plain[joined][s]);
        }
      }
      ASSERT_EQ(row.At(stream), counts[stream]);
    }
    for (const RowBuilder* row : {&first, &second}) {
      finished.push_back(row->Finish());
    }
    plain.push_back(of_first);
    plain.push_back(of_second);
  }
  for (size_t r = 0; r < plain.size(); ++r) {
    for (StreamId s : plain[r].ids()) {
      ASSERT_EQ(rows.At(finished[r], s), plain[r][s]);
    }
  }
}

}  // namespace
}  // namespace partita
