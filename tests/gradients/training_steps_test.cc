// Tests that the comparisons of training_steps.h fail when they should.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/training_steps.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gmock/gmock.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two weights, learned with momentum over two replicas.
std::unique_ptr<Session> OverTwoReplicas() {
  GraphBuilder b("train");
  const Tensor x = b.Input("x", DType::kF32, {4, 2});
  const Tensor w = b.Variable("w", HostTensor::Of<float>({2, 1}, {0.5, -1}));
  const Tensor loss =
      MseLoss(MatMul(x, w), b.Input("target", DType::kF32, {4, 1}));
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.125), {.momentum = 0.5});
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.strategy = "data";
  return TrainingSession(*std::move(module), EqualCpus(2, kTrainingMemory),
                         options);
}

std::vector<HostTensor> Batch() {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  inputs.push_back(HostTensor::Of<float>({4, 1}, {1, 0, 2, 0}));
  return inputs;
}

// Flips the last bit of one element.
void Change(HostTensor& tensor, int element) {
  uint32_t bits = 0;
  std::byte* place = tensor.bytes() + sizeof(bits) * element;
  std::memcpy(&bits, place, sizeof(bits));
  bits ^= 1;
  std::memcpy(place, &bits, sizeof(bits));
}

// The failures of `check`, which are not this test's.
std::string FailuresOf(absl::FunctionRef<void()> check) {
  testing::TestPartResultArray failures;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(&failures);
    check();
  }
  std::string all;
  for (int i = 0; i < failures.size(); ++i) {
    all += failures.GetTestPartResult(i).message();
  }
  return all;
}

TEST(TrainingSteps, OneOtherBitOfAnOutputOrAVariableFails) {
  const auto session = OverTwoReplicas();
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(CheckedStep(*session, 0, Batch()).size(), 1u);
  auto reference = session->RunReference();
  ASSERT_TRUE(reference.ok()) << reference.status();
  ASSERT_EQ(reference->size(), 3u);  // the loss, w and its momentum
  ASSERT_TRUE(session->Run().ok());
  const auto failures = [&] {
    return FailuresOf([&] { ExpectIsReference(*session, 1, *reference); });
  };
  EXPECT_EQ(failures(), "");
  Change((*reference)[0], 0);
  EXPECT_THAT(failures(), HasSubstr("output loss of step 1"));
  Change((*reference)[0], 0);

  auto w = session->ReadVariable("w");
  ASSERT_TRUE(w.ok()) << w.status();
  Change(*w, 1);
  ASSERT_TRUE(session->WriteVariable("w", *w).ok());
  EXPECT_THAT(failures(), AllOf(HasSubstr("element 1 in memory"),
                                HasSubstr("variable w after step 1"),
                                Not(HasSubstr("momentum"))));
}

TEST(TrainingSteps, ReplicasAreCounted) {
  const auto session = OverTwoReplicas();
  ASSERT_NE(session, nullptr);
  ExpectEqualReplicas(*session, 2);
  EXPECT_THAT(FailuresOf([&] { ExpectEqualReplicas(*session, 3); }),
              HasSubstr("variable w"));
}

TEST(TrainingSteps, BitsAreThoseOfNansAndOfZerosToo) {
  const HostTensor nan = HostTensor::Of<double>({2}, {0, kNan});
  EXPECT_TRUE(SameBits(nan, nan.Clone()));
  EXPECT_FALSE(SameBits(nan, HostTensor::Of<double>({2}, {-0.0, kNan})));
  EXPECT_FALSE(SameBits(nan, HostTensor::Of<double>({2}, {0, 0})));
  EXPECT_FALSE(SameBits(nan, HostTensor::Of<double>({2, 1}, {0, kNan})));
}

TEST(TrainingSteps, WhatIsNotANumberIsFarFromAll) {
  EXPECT_EQ(RoundingsApart({1, 4}, {1, 4}), 0);
  EXPECT_EQ(RoundingsApart({1.5, 4}, {1, 4}), 0x1p20);
  EXPECT_EQ(RoundingsApart({1e-9}, {0}), kInfinity);
  EXPECT_EQ(RoundingsApart({kNan}, {1}), kInfinity);
  EXPECT_EQ(RoundingsApart({1}, {kNan}), kInfinity);
  EXPECT_EQ(RoundingsApart({kNan}, {kNan}), kInfinity);
  EXPECT_EQ(RoundingsApart({1}, {1, 1}), kInfinity);
}

TEST(TrainingSteps, VariablesThatAreFarOrMissingFail) {
  const NamedNumbers expected = {{"v", {0, 1}}, {"w", {1}}};
  ExpectSameVariables(expected, expected, 0);
  const auto failures = [&](const NamedNumbers& found) {
    return FailuresOf([&] { ExpectSameVariables(found, expected, 1e9); });
  };
  EXPECT_THAT(failures({{"v", {0, kNan}}, {"w", {1}}}),
              HasSubstr("variable v"));
  EXPECT_THAT(failures({{"v", {0, 1}}, {"x", {1}}}), HasSubstr("w"));
  EXPECT_THAT(failures({{"v", {0, 1}}, {"w", {1}}, {"x", {1}}}),
              HasSubstr("found.size()"));
}

}  // namespace
}  // namespace partita
