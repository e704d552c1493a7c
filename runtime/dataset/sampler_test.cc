// Tests of shuffled epochs, batches and the shards of ranks, over many sizes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

using Order = std::vector<int64_t>;

Order UpTo(int64_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The values come from an independent program in another language, whose Philox
// gives Random123's known answers.
TEST(Shuffle, TheOrderIsTheSameOnEveryMachine) {
  EXPECT_EQ(ShuffledOrder(10, 0, 0), (Order{5, 6, 3, 8, 7, 2, 0, 1, 9, 4}));
  EXPECT_EQ(ShuffledOrder(10, 0, 1), (Order{2, 1, 5, 9, 4, 6, 3, 8, 0, 7}));
  EXPECT_EQ(ShuffledOrder(10, 1, 0), (Order{9, 3, 0, 8, 4, 2, 7, 6, 1, 5}));
  EXPECT_EQ(ShuffledOrder(10, uint64_t{1} << 40, uint64_t{1} << 33),
            (Order{3, 7, 0, 9, 5, 2, 4, 6, 1, 8}));
}

TEST(Shuffle, EverySampleOccursOnce) {
  for (int64_t count : {0, 1, 2, 3, 100, 12345}) {
    Order order = ShuffledOrder(count, 7, 3);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, UpTo(count));
  }
}

TEST(Shuffle, EveryOrderIsAsLikelyAsAnyOther) {
  constexpr int kEpochs = 24000;
  std::map<Order, int> counts;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    ++counts[ShuffledOrder(4, 99, epoch)];
  }
  EXPECT_EQ(counts.size(), 24);
  double chi_square = 0;
  for (const auto& [order, count] : counts) {
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  EXPECT_LT(chi_square, 49.7);  // one of a thousand generators is above
  EXPECT_GT(chi_square, 7.5);   // one of a thousand is below
}

struct Case {
  int64_t samples;
  SamplerOptions options;
  std::string Text() const {
    return absl::StrCat(samples, " samples, batch ", options.batch_size, ", ",
                        options.ranks, " ranks, last ",
                        static_cast<int>(options.last));
  }
};

// All small cases with at least one batch.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (int64_t samples : {1, 2, 5, 12, 13}) {
    for (int64_t batch : {1, 2, 3, 5, 12, 17}) {
      for (int64_t ranks : {1, 2, 3, 4, 7}) {
        for (LastBatch last :
             {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
          if (last == LastBatch::kDrop && samples < batch) continue;
          cases.push_back(
              {samples,
               {.batch_size = batch, .ranks = ranks, .seed = 5, .last = last}});
        }
      }
    }
  }
  return cases;
}

Sampler Make(const Case& c, int64_t rank) {
  SamplerOptions options = c.options;
  options.rank = rank;
  return *Sampler::Create(c.samples, options);
}

TEST(Sampler, TheShardsOfAllRanksAreTheBatchOfOne) {
  for (const Case& c : Cases()) {
    Case alone = c;
    alone.options.ranks = 1;
    const Sampler one = Make(alone, 0);
    const Order order = one.Order(2);
    for (int64_t batch = 0; batch < one.num_batches(); ++batch) {
      const BatchShare whole = one.Share(order, batch);
      Order concatenated;
      int64_t counted = 0;
      for (int64_t rank = 0; rank < c.options.ranks; ++rank) {
        const Sampler sampler = Make(c, rank);
        ASSERT_EQ(sampler.num_batches(), one.num_batches());
        ASSERT_EQ(sampler.Order(2), order);
        const BatchShare share = sampler.Share(order, batch);
        EXPECT_EQ(share.first, concatenated.size());
        EXPECT_EQ(share.batch_counted, whole.num_counted);
        EXPECT_LE(share.samples.size(), sampler.max_share());
        counted += share.num_counted;
        concatenated.insert(concatenated.end(), share.samples.begin(),
                            share.samples.end());
      }
      EXPECT_EQ(concatenated, whole.samples) << c.Text();
      EXPECT_EQ(counted, whole.num_counted) << c.Text();
    }
  }
}

TEST(Sampler, EachSampleCountsOnceInAnEpoch) {
  for (const Case& c : Cases()) {
    std::multiset<int64_t> counted;
    for (int64_t rank = 0; rank < c.options.ranks; ++rank) {
      const Sampler sampler = Make(c, rank);
      const Order order = sampler.Order(0);
      for (int64_t batch = 0; batch < sampler.num_batches(); ++batch) {
        const BatchShare share = sampler.Share(order, batch);
        counted.insert(share.samples.begin(),
                       share.samples.begin() + share.num_counted);
      }
    }
    const int64_t expected =
        c.options.last == LastBatch::kDrop
            ? c.samples / c.options.batch_size * c.options.batch_size
            : c.samples;
    EXPECT_EQ(counted.size(), expected) << c.Text();
    EXPECT_EQ(std::set<int64_t>(counted.begin(), counted.end()).size(),
              counted.size())
        << c.Text();
  }
}

TEST(Sampler, ShardsOfOneBatchDifferByOneSampleAtMost) {
  for (const Case& c : Cases()) {
    for (int64_t batch = 0; batch < Make(c, 0).num_batches(); ++batch) {
      std::set<size_t> sizes;
      for (int64_t rank = 0; rank < c.options.ranks; ++rank) {
        const Sampler sampler = Make(c, rank);
        sizes.insert(sampler.Share(sampler.Order(0), batch).samples.size());
      }
      EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 1) << c.Text();
    }
  }
}

TEST(Sampler, MaxShareIsReached) {
  for (const Case& c : Cases()) {
    for (int64_t rank = 0; rank < c.options.ranks; ++rank) {
      const Sampler sampler = Make(c, rank);
      const Order order = sampler.Order(0);
      size_t most = 0;
      for (int64_t batch = 0; batch < sampler.num_batches(); ++batch) {
        most = std::max(most, sampler.Share(order, batch).samples.size());
      }
      EXPECT_EQ(most, sampler.max_share()) << c.Text();
    }
  }
}

TEST(Sampler, EveryEpochHasAnOrderOfItsOwn) {
  const Sampler sampler = *Sampler::Create(50, {.batch_size = 8, .seed = 1});
  std::set<Order> orders;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    orders.insert(sampler.Order(epoch));
    EXPECT_EQ(sampler.Order(epoch), sampler.Order(epoch));
  }
  EXPECT_EQ(orders.size(), 20);
  const Sampler other = *Sampler::Create(50, {.batch_size = 8, .seed = 2});
  EXPECT_NE(other.Order(0), sampler.Order(0));
}

TEST(Sampler, WithoutShufflingSamplesComeInOrder) {
  const Sampler sampler =
      *Sampler::Create(5, {.batch_size = 2, .shuffle = false});
  EXPECT_EQ(sampler.Order(3), UpTo(5));
  EXPECT_EQ(sampler.num_batches(), 3);
  EXPECT_EQ(sampler.Share(UpTo(5), 1).samples, (Order{2, 3}));
  EXPECT_EQ(sampler.Share(UpTo(5), 2).samples, (Order{4}));
}

TEST(Sampler, ABatchIsFilledUpFromTheEpochsBeginning) {
  const Sampler sampler = *Sampler::Create(
      3, {.batch_size = 8, .shuffle = false, .last = LastBatch::kPad});
  const BatchShare share = sampler.Share(UpTo(3), 0);
  EXPECT_EQ(share.samples, (Order{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(share.num_counted, 3);
}

TEST(Sampler, OptionsThatMakeNoBatchAreRefused) {
  const auto fault = [](int64_t samples, const SamplerOptions& options) {
    return std::string(Sampler::Create(samples, options).status().message());
  };
  EXPECT_EQ(fault(0, {}),
            "sampler: found a dataset without samples; expected one or more; "
            "give a dataset that has some");
  EXPECT_EQ(fault(9, {.batch_size = 0}),
            "sampler: found batch size 0; expected 1 to 2147483648; give the "
            "samples of a step over all ranks");
  EXPECT_EQ(fault(9, {.ranks = 0}),
            "sampler: found 0 ranks; expected 1 to 1048576; give the number of "
            "ranks that share a batch");
  EXPECT_EQ(fault(9, {.ranks = 2, .rank = 2}),
            "sampler: found rank 2; expected 0 to 1; count them from 0");
  EXPECT_EQ(fault(9, {.batch_size = 10, .last = LastBatch::kDrop}),
            "sampler: found 9 samples; expected at least one batch of 10; "
            "lower the batch size, or keep or fill up the last batch");
}

}  // namespace
}  // namespace partita
