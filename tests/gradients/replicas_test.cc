// Data-parallel training: the batch over replicas, one step for all of them.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

int Count(const Plan& plan, Command::Kind kind) {
  int count = 0;
  for (const Command& command : plan.entries[0].programs[0].commands) {
    count += command.kind == kind;
  }
  return count;
}

std::unique_ptr<Session> OverReplicas(int devices, int64_t batch,
                                      int64_t memory = kTrainingMemory,
                                      std::optional<int64_t> bucket = {}) {
  CompileOptions options;
  options.strategy = "data";
  options.bucket_bytes = bucket;
  return TrainingSession(MnistModule(0.2, batch), EqualCpus(devices, memory),
                         options);
}

// Even and uneven shards: 8 over 2 and 4 devices, and over 3.
TEST(DataParallelTraining, TrainsAsOneDeviceDoesAndReplicasStayEqual) {
  for (const int devices : {2, 3, 4}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices"));
    const auto session = OverReplicas(devices, kMnistBatch);
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsEvalDoes(*session, [&](Session& trained) {
      ExpectEqualReplicas(trained, devices);
    });
  }
}

// Collectives: the number of examples that count, by which the backward pass
// divides; then the gradients of the eight parameters and the loss, each by
// itself or all in one bucket. Each rank has a command.
TEST(DataParallelTraining, OnlySumsOverTheBatchAreAllReduced) {
  const auto session = OverReplicas(2, kMnistBatch);
  const auto apart = OverReplicas(2, kMnistBatch, kTrainingMemory, 0);
  ASSERT_NE(session, nullptr);
  ASSERT_NE(apart, nullptr);
  const Plan& plan = session->plan();
  EXPECT_EQ(Count(plan, Command::Kind::kCollective), 2 * (1 + 1));
  EXPECT_EQ(Count(apart->plan(), Command::Kind::kCollective), 2 * (1 + 8 + 1));
  for (const Stream& stream : plan.entries[0].streams) {
    EXPECT_EQ(stream.name, "compute");
  }
}

// A gradient's bits do not depend on the other values of its bucket.
TEST(DataParallelTraining, BucketsChangeNoBit) {
  std::vector<Numbers> losses;
  for (const int64_t bucket : {0, 4096, 4 << 20}) {
    const auto session = OverReplicas(3, kMnistBatch, kTrainingMemory, bucket);
    ASSERT_NE(session, nullptr);
    for (int step = 0; step < 3; ++step) {
      losses.push_back(LossOf(*session, MnistBatch(step), {}));
      EXPECT_EQ(losses.back(), losses[step]) << bucket << " bytes";
    }
    ExpectEqualReplicas(*session, 3);
  }
}

// Of eight images two devices get four each, and three get two, three and
// three.
TEST(DataParallelTraining, EachReplicaIsFedItsShardOfTheBatch) {
  for (const int devices : {2, 3}) {
    const auto session = OverReplicas(devices, kMnistBatch);
    ASSERT_NE(session, nullptr);
    const Entry& entry = session->plan().entries[0];
    std::vector<int64_t> fed(entry.inputs.size(), 0);
    for (const Command& command : entry.programs[0].commands) {
      if (command.kind != Command::Kind::kFeed) continue;
      const int64_t bytes =
          entry.buffers[command.results[0].index].range.size();
      EXPECT_LT(bytes, entry.inputs[command.port].type.num_bytes());
      fed[command.port] += bytes;
    }
    for (size_t i = 0; i < fed.size(); ++i) {
      EXPECT_EQ(fed[i], entry.inputs[i].type.num_bytes()) << "input " << i;
    }
  }
}

TEST(DataParallelTraining, ABatchSmallerThanTheMachineLeavesDevicesOut) {
  const auto session = OverReplicas(4, 3);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->plan().devices.size(), 3u);
  ExpectTrainsAsEvalDoes(
      *session, [](Session& trained) { ExpectEqualReplicas(trained, 3); });
}

TEST(DataParallelTraining, DelaysChangeNoBit) {
  const auto calm = OverReplicas(3, kMnistBatch);
  const auto delayed = OverReplicas(3, kMnistBatch);
  ASSERT_NE(calm, nullptr);
  ASSERT_NE(delayed, nullptr);
  for (int step = 0; step < 10; ++step) {
    RunOptions chaos;
    chaos.chaos_seed = step;
    const Numbers loss = LossOf(*calm, MnistBatch(step), {});
    EXPECT_EQ(LossOf(*delayed, MnistBatch(step), chaos), loss);
  }
  ExpectEqualReplicas(*delayed, 3);
  ExpectSameBits(*delayed, *calm);
}

TEST(DataParallelTraining, AReplicaThatDoesNotFitIsRefused) {
  CompileOptions options;
  options.strategy = "data";
  const auto compiled =
      Compile(MnistModule(0.2, 64), EqualCpus(2, int64_t{1} << 20), options);
  ASSERT_FALSE(compiled.ok());
  EXPECT_NE(compiled.status().message().find("MiB needed on cpu:"),
            absl::string_view::npos)
      << compiled.status();
}

}  // namespace
}  // namespace partita
