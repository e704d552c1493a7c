// Plans of training steps with bf16 or f16 products.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int kSteps = 8;

// The f16 loss is scaled so little that no gradient overflows: a skipped step
// would shift the losses of all later ones.
std::unique_ptr<Session> TrainingIn(DType precision, int devices,
                                    const CompileOptions& options) {
  auto session = TrainingSession(MnistModule(0.2, kMnistBatch, precision),
                                 EqualCpus(devices, kTrainingMemory), options);
  if (session != nullptr && precision == DType::kF16) {
    HostTensor scale({DType::kF32, {}, {}});
    scale.data<float>()[0] = 1024;
    const absl::Status written = session->WriteVariable("loss_scale", scale);
    EXPECT_TRUE(written.ok()) << written;
  }
  return session;
}

std::unique_ptr<Session> OnOne(DType precision) {
  CompileOptions options;
  options.strategy = "single";
  return TrainingIn(precision, 1, options);
}

Numbers LossesOf(Session& session) {
  Numbers losses;
  for (int step = 0; step < kSteps; ++step) {
    const Numbers loss = CheckedStep(session, step, MnistBatch(step));
    losses.insert(losses.end(), loss.begin(), loss.end());
  }
  return losses;
}

void ExpectNearly(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t step = 0; step < found.size(); ++step) {
    EXPECT_NEAR(found[step], expected[step], 0.1 * expected[step])
        << "step " << step;
  }
}

TEST(MixedPrecisionTraining, TrainsNearlyAsSinglesDo) {
  const auto singles = OnOne(DType::kF32);
  ASSERT_NE(singles, nullptr);
  const Numbers expected = LossesOf(*singles);
  for (DType precision : {DType::kBF16, DType::kF16}) {
    SCOPED_TRACE(DTypeName(precision));
    const auto halves = OnOne(precision);
    ASSERT_NE(halves, nullptr);
    const Numbers losses = LossesOf(*halves);
    EXPECT_NE(losses, expected);
    ExpectNearly(losses, expected);
    const auto scale = halves->ReadVariable("loss_scale.good_steps");
    EXPECT_EQ(scale.ok(), precision == DType::kF16);
    if (scale.ok()) {
      EXPECT_EQ(ToNumbers(*scale), Numbers{kSteps});
    }
  }
}

// With the whole batch, and with three replicas that each accumulate over two
// micro-batches.
TEST(MixedPrecisionTraining, ReplicasTrainNearlyAsOneDeviceDoesAndStayEqual) {
  CompileOptions options;
  options.strategy = "data";
  for (DType precision : {DType::kBF16, DType::kF16}) {
    const auto one = OnOne(precision);
    ASSERT_NE(one, nullptr);
    const Numbers expected = LossesOf(*one);
    for (const int micro_batches : {1, 2}) {
      SCOPED_TRACE(absl::StrCat(DTypeName(precision), ", ", micro_batches,
                                " micro-batches"));
      options.micro_batches = micro_batches;
      const auto replicas = TrainingIn(precision, 3, options);
      ASSERT_NE(replicas, nullptr);
      ExpectNearly(LossesOf(*replicas), expected);
      ExpectEqualReplicas(*replicas, 3);
    }
  }
}

TEST(MixedPrecisionTraining, MicroBatchesTrainNearlyAsTheBatchDoes) {
  CompileOptions options;
  options.strategy = "pipeline";
  options.planner.stages = 2;
  options.micro_batches = 4;
  const auto one = OnOne(DType::kBF16);
  const auto stages = TrainingIn(DType::kBF16, 2, options);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(stages, nullptr);
  ExpectNearly(LossesOf(*stages), LossesOf(*one));
}

bool IsOf(DType dtype, const OpView& op) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (op.operand_type(i).dtype == dtype) return true;
  }
  return op.result_type(0).dtype == dtype;
}

bool IsProduct(const OpView& op) {
  return op.is(kMatmul) || op.is(kConv) || op.is(kConvTranspose) ||
         op.is(kConvWeightGradient);
}

// Products have kernels on every processor.
TEST(MixedPrecisionTraining, NoProductIsLeftToEval) {
  CompileOptions options;
  options.strategy = "single";
  for (DType precision : {DType::kBF16, DType::kF16}) {
    SCOPED_TRACE(DTypeName(precision));
    const auto compiled = Compile(MnistModule(0.2, kMnistBatch, precision),
                                  EqualCpus(1, kTrainingMemory), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    int products = 0;
    for (const OpView& op : compiled->plan.module.main().ops()) {
      if (!IsOf(precision, op)) continue;
      ASSERT_TRUE(op.node().kernel.has_value()) << op.ToString();
      if (!IsProduct(op) && !op.is(kCast)) continue;
      products += IsProduct(op);
      EXPECT_NE(op.node().kernel->kernel, "reference.eval") << op.ToString();
    }
    EXPECT_GE(products, 10);
  }
}

}  // namespace
}  // namespace partita
