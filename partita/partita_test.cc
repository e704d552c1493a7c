// A program that includes only partita/partita.h; do not include anything else.
// SPDX-License-Identifier: Apache-2.0

#include "partita/partita.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

// y = relu(x w) on this host's CPU, with x set.
std::unique_ptr<Session> NewSession() {
  GraphBuilder b("small");
  const Tensor x = b.Input("x", DType::kF32, {1, 3});
  const Tensor w =
      b.Constant(HostTensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  b.Output("y", Relu(MatMul(x, w)));
  auto compiled = Compile(*b.Build(), DetectHost({.gpus = false}));
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)));
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(
      (*session)->SetInput("x", HostTensor::Of<float>({1, 3}, {1, 2, 3})).ok());
  return *std::move(session);
}

TEST(PartitaTest, MemoryIsReportedByDevice) {
  const auto session = NewSession();
  const std::vector<DeviceMemory> use = session->MemoryUse().value();
  ASSERT_EQ(use.size(), 1u);
  EXPECT_EQ(use[0].device, "cpu:0");
  EXPECT_EQ(use[0].arena, use[0].persistent + use[0].depth * use[0].step);
  EXPECT_GT(use[0].step, 0);
  EXPECT_LT(use[0].arena, use[0].limit);
}

TEST(PartitaTest, ATracedStepReportsWhenEachCommandRan) {
  const auto session = NewSession();
  EXPECT_TRUE(session->LastTrace().empty());
  ASSERT_TRUE(session->Run({.trace = true}).ok());
  const std::vector<MeasuredCommand> trace = session->LastTrace();
  ASSERT_GE(trace.size(), 3u);  // feed, kernel, fetch
  double last = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].command, static_cast<int>(i));
    EXPECT_LE(last, trace[i].start_seconds);
    EXPECT_LE(trace[i].start_seconds, trace[i].end_seconds);
    last = trace[i].end_seconds;
  }
}

TEST(PartitaTest, AFailureReportsItsLocation) {
  const auto session = NewSession();
  EXPECT_EQ(session->last_failure(), nullptr);
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(session->Run({.deadline = past}).code(),
            absl::StatusCode::kDeadlineExceeded);
  const FailedCommand* failure = session->last_failure();
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->device, "cpu:0");
  EXPECT_EQ(failure->command, 0);
  EXPECT_EQ(failure->kind, "feed");
  EXPECT_TRUE(session->Run().ok());
}

TEST(PartitaTest, KernelsOfAPlanForThisHostAreThePlansOwn) {
  EXPECT_TRUE(NewSession()->ReplacedKernels().empty());
}

}  // namespace
}  // namespace partita
