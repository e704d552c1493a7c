// Threads that read ahead give the same batches as one thread.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/loader.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// Sample i is {i, i + 1} and -i. One sample may be bad, a read may take a given
// time, and reads are counted.
class Numbers final : public Dataset {
 public:
  explicit Numbers(int64_t samples, int64_t bad = -1,
                   std::chrono::milliseconds takes = {})
      : Dataset({{"pair", {DType::kI32, {2}, {}}},
                 {"minus", {DType::kI64, {}, {}}}},
                samples),
        bad_(bad),
        takes_(takes) {}

  absl::Status CopySample(int64_t sample,
                          absl::Span<std::byte* const> to) const override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++reads_;
    }
    read_.notify_all();
    std::this_thread::sleep_for(takes_);
    if (sample == bad_) return BadFile("pair", "it bad", "a good one");
    int32_t* pair = reinterpret_cast<int32_t*>(to[0]);
    pair[0] = static_cast<int32_t>(sample);
    pair[1] = static_cast<int32_t>(sample) + 1;
    *reinterpret_cast<int64_t*>(to[1]) = -sample;
    return absl::OkStatus();
  }
  int64_t reads() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return reads_;
  }
  // Waits for `reads` reads; false if they do not happen.
  bool WaitForReads(int64_t reads) const {
    std::unique_lock<std::mutex> lock(mutex_);
    return read_.wait_for(lock, std::chrono::seconds(30),
                          [&] { return reads_ >= reads; });
  }

 private:
  const int64_t bad_;
  const std::chrono::milliseconds takes_;
  mutable std::mutex mutex_;  // guards reads_
  mutable std::condition_variable read_;
  mutable int64_t reads_ = 0;
};

std::unique_ptr<Loader> Make(SharedDataset dataset,
                             const SamplerOptions& sampling,
                             const LoaderOptions& options) {
  const auto sampler = Sampler::Create(dataset->num_samples(), sampling);
  EXPECT_TRUE(sampler.ok()) << sampler.status();
  auto loader = Loader::Create(std::move(dataset), *sampler, options);
  EXPECT_TRUE(loader.ok()) << loader.status();
  return *std::move(loader);
}

void ExpectHolds(const LoadedBatch& batch, const BatchShare& share) {
  EXPECT_EQ(batch.share().samples, share.samples);
  EXPECT_EQ(batch.share().num_counted, share.num_counted);
  const int64_t count = static_cast<int64_t>(share.samples.size());
  ASSERT_EQ(batch.field(0).type(), (TensorType{DType::kI32, {count, 2}, {}}));
  ASSERT_EQ(batch.field(1).type(), (TensorType{DType::kI64, {count}, {}}));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = share.samples[i];
    EXPECT_EQ(batch.field(0).data<int32_t>()[2 * i], sample);
    EXPECT_EQ(batch.field(0).data<int32_t>()[2 * i + 1], sample + 1);
    EXPECT_EQ(batch.field(1).data<int64_t>()[i], -sample);
  }
}

class LoaderTest : public testing::TestWithParam<int> {};

TEST_P(LoaderTest, BatchesAreThoseOfTheSamplerInItsOrder) {
  for (LastBatch last :
       {LastBatch::kUneven, LastBatch::kPad, LastBatch::kDrop}) {
    for (int buffers : {2, 3, 16}) {
      const SamplerOptions sampling = {
          .batch_size = 6, .ranks = 2, .rank = 1, .seed = 4, .last = last};
      const Sampler sampler = *Sampler::Create(20, sampling);
      const auto loader =
          Make(std::make_shared<Numbers>(20), sampling,
               {.workers = GetParam(), .buffers = buffers, .end_epoch = 3});
      for (int64_t epoch = 0; epoch < 3; ++epoch) {
        const std::vector<int64_t> order = sampler.Order(epoch);
        for (int64_t batch = 0; batch < sampler.num_batches(); ++batch) {
          const auto loaded = loader->Next();
          ASSERT_TRUE(loaded.ok() && loaded->has_value());
          EXPECT_EQ((*loaded)->epoch(), epoch);
          EXPECT_EQ((*loaded)->batch(), batch);
          ExpectHolds(**loaded, sampler.Share(order, batch));
        }
      }
      for (int again = 0; again < 2; ++again) {
        const auto end = loader->Next();
        ASSERT_TRUE(end.ok());
        EXPECT_FALSE(end->has_value());
      }
    }
  }
}

TEST_P(LoaderTest, AResumedLoaderGoesOnWhereAnotherStopped) {
  const SamplerOptions sampling = {.batch_size = 4, .seed = 9};
  const auto from = [&](int64_t epoch, int64_t batch) {
    return Make(std::make_shared<Numbers>(10), sampling,
                {.workers = GetParam(),
                 .first_epoch = epoch,
                 .first_batch = batch,
                 .end_epoch = 4});
  };
  std::vector<std::vector<int64_t>> all;
  const auto whole = from(0, 0);
  for (int i = 0; i < 4 * 3; ++i) {
    all.push_back((*whole->Next())->share().samples);
  }
  const auto resumed = from(2, 1);
  for (int i = 2 * 3 + 1; i < 4 * 3; ++i) {
    const auto loaded = resumed->Next();
    EXPECT_EQ((*loaded)->share().samples, all[i]);
    EXPECT_EQ((*loaded)->epoch(), i / 3);
    EXPECT_EQ((*loaded)->batch(), i % 3);
  }
  EXPECT_FALSE(resumed->Next()->has_value());
}

TEST_P(LoaderTest, AnErrorComesWithItsBatch) {
  const auto loader = Make(std::make_shared<Numbers>(12, /*bad=*/7),
                           {.batch_size = 3, .shuffle = false},
                           {.workers = GetParam(), .end_epoch = 2});
  for (int batch = 0; batch < 2; ++batch) {
    const auto loaded = loader->Next();
    ASSERT_TRUE(loaded.ok() && loaded->has_value()) << loaded.status();
    EXPECT_EQ((*loaded)->batch(), batch);
  }
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(loader->Next().status().message(),
              "epoch 0 batch 2 sample 7: pair: found it bad; expected a good "
              "one");
  }
}

TEST_P(LoaderTest, BatchesThatAreHeldKeepTheirBytes) {
  const SamplerOptions sampling = {.batch_size = 2, .shuffle = false};
  const auto loader = Make(std::make_shared<Numbers>(20), sampling,
                           {.workers = GetParam(), .buffers = 3});
  std::vector<LoadedBatch> held;
  for (int i = 0; i < 2; ++i) held.push_back(std::move(**loader->Next()));
  {
    const auto third = loader->Next();
    ASSERT_TRUE(third.ok()) << third.status();
    EXPECT_EQ(loader->Next().status().message(),
              "loader: found all 3 buffers in use; expected one that was given "
              "back; destroy batches that are done with, or ask for more "
              "buffers");
  }
  held.erase(held.begin());
  const auto fourth = loader->Next();
  ASSERT_TRUE(fourth.ok()) << fourth.status();
  EXPECT_EQ(held[0].field(1).data<int64_t>()[1], -3);
  EXPECT_EQ((*fourth)->field(1).data<int64_t>()[1], -7);
}

TEST_P(LoaderTest, ReadingAheadEndsWhereTheRingIsFull) {
  const auto dataset = std::make_shared<Numbers>(1000);
  const auto loader =
      Make(dataset, {.batch_size = 10}, {.workers = GetParam(), .buffers = 4});
  const auto first = loader->Next();
  const auto second = loader->Next();
  // Four buffers, two of them held: no fifth batch is begun.
  EXPECT_LE(dataset->reads(), 4 * 10);
}

// Nobody asks for the second batch, but the workers read it.
TEST_P(LoaderTest, TheRingIsFilledWhileABatchIsHeld) {
  const auto dataset = std::make_shared<Numbers>(1000);
  const auto loader =
      Make(dataset, {.batch_size = 10}, {.workers = GetParam(), .buffers = 4});
  ASSERT_TRUE(dataset->WaitForReads(4 * 10)) << "before the first batch";
  for (int given_back = 0; given_back < 6; ++given_back) {
    {
      const auto held = loader->Next();
      ASSERT_TRUE(held.ok()) << held.status();
      EXPECT_EQ(dataset->reads(), (4 + given_back) * 10);
    }
    ASSERT_TRUE(dataset->WaitForReads((5 + given_back) * 10))
        << "after batch " << given_back;
  }
}

TEST_P(LoaderTest, BuffersAreAllocatedOnce) {
  const auto loader = Make(std::make_shared<Numbers>(1000), {.batch_size = 10},
                           {.workers = GetParam(), .buffers = 4});
  std::vector<const int32_t*> first_round;
  for (int i = 0; i < 10 * 4; ++i) {
    const auto loaded = loader->Next();
    ASSERT_TRUE(loaded.ok() && loaded->has_value()) << loaded.status();
    const LoadedBatch& batch = **loaded;
    const int32_t* pairs = batch.field(0).data<int32_t>().data();
    if (i < 4) {
      EXPECT_FALSE(absl::c_linear_search(first_round, pairs)) << "batch " << i;
      first_round.push_back(pairs);
    }
    EXPECT_EQ(pairs, first_round[i % 4]) << "batch " << i;
  }
}

TEST_P(LoaderTest, WaitingForABatchIsCounted) {
  const auto loader = Make(
      std::make_shared<Numbers>(1, /*bad=*/-1, std::chrono::milliseconds(300)),
      {.batch_size = 1}, {.workers = GetParam()});
  EXPECT_EQ(loader->seconds_waited(), 0);
  ASSERT_TRUE(loader->Next().ok());
  EXPECT_GT(loader->seconds_waited(), 0);
}

TEST_P(LoaderTest, ALoaderMayBeStoppedAnywhere) {
  for (int taken = 0; taken < 6; ++taken) {
    const auto loader =
        Make(std::make_shared<Numbers>(100000), {.batch_size = 50000},
             {.workers = GetParam(), .end_epoch = 100});
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(loader->Next().ok());
  }
}

TEST_P(LoaderTest, EpochsMayBeShorterThanTheRing) {
  const SamplerOptions sampling = {.batch_size = 5, .seed = 3};
  const Sampler sampler = *Sampler::Create(5, sampling);
  const auto loader =
      Make(std::make_shared<Numbers>(5), sampling,
           {.workers = GetParam(), .buffers = 8, .end_epoch = 40});
  for (int64_t epoch = 0; epoch < 40; ++epoch) {
    const auto loaded = loader->Next();
    ASSERT_TRUE(loaded.ok() && loaded->has_value());
    EXPECT_EQ((*loaded)->share().samples, sampler.Order(epoch));
  }
}

TEST_P(LoaderTest, ARankMayHaveNothingToRead) {
  const auto loader =
      Make(std::make_shared<Numbers>(2),
           {.batch_size = 2, .ranks = 4, .rank = 0}, {.workers = GetParam()});
  const auto loaded = loader->Next();
  ASSERT_TRUE(loaded.ok() && loaded->has_value());
  EXPECT_EQ((*loaded)->field(0).type().ToString(), "i32[0, 2]");
  EXPECT_EQ((*loaded)->share().batch_counted, 2);
}

INSTANTIATE_TEST_SUITE_P(Workers, LoaderTest, testing::Values(1, 2, 5));

// Sanitizers manage stacks themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Stacks so large that the address space holds only two or three.
class HugeStacks {
 public:
  HugeStacks() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, size_t{1} << 45);
    pthread_setattr_default_np(&huge);
  }
  ~HugeStacks() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_;
};

TEST(Loader, WorkersThatWereStartedEndWhereAnotherCannotBe) {
  const auto numbers = std::make_shared<Numbers>(8);
  const auto sampler = Sampler::Create(8, {.batch_size = 2});
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  const HugeStacks no_room;
  EXPECT_THROW(Loader::Create(numbers, *sampler, {.workers = 16}).IgnoreError(),
               std::system_error);
  EXPECT_EQ(numbers.use_count(), 1);
}
#endif

TEST(Loader, OptionsOutOfRangeAreRefused) {
  const SharedDataset dataset = std::make_shared<Numbers>(10);
  const Sampler sampler = *Sampler::Create(10, {.batch_size = 5});
  const auto fault = [&](const LoaderOptions& options) {
    return std::string(
        Loader::Create(dataset, sampler, options).status().message());
  };
  EXPECT_EQ(fault({.workers = 0}),
            "loader: found workers 0; expected 1 to 256");
  EXPECT_EQ(fault({.buffers = 1}),
            "loader: found buffers 1; expected 2 to 1024");
  EXPECT_EQ(fault({.end_epoch = 0}),
            "loader: found end epoch 0; expected 1 to 4611686018427387903");
  EXPECT_EQ(fault({.first_epoch = 1}),
            "loader: found first epoch 1; expected 0 to 0");
  EXPECT_EQ(fault({.first_batch = 2}),
            "loader: found first batch 2; expected 0 to 1");
  const Sampler other = *Sampler::Create(11, {});
  EXPECT_EQ(Loader::Create(dataset, other, {}).status().message(),
            "loader: found a sampler of 11 samples; expected 10 as in the "
            "dataset");
}

}  // namespace
}  // namespace partita
