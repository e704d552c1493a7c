// Batch norm with the statistics of each replica's shard of the batch, compared
// with two processes of PyTorch's DistributedDataParallel (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/collective.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

// Ten times the observed distance: a quotient by the variance of a few values
// has larger errors than the values.
constexpr double kRoundings = 450;

const Numbers& Recorded(const std::string& name) {
  static const auto& lists =
      *new std::map<std::string, Numbers>(ReadLists("torch_training.txt"));
  EXPECT_EQ(lists.count(name), 1u) << name;
  return lists.at(name);
}

// small_conv_net of torch_training.py, and a step of SGD.
Module TrainingModule(int shards, int64_t examples = 6) {
  GraphBuilder b("train");
  const Tensor x = b.Input("x", DType::kF64, {examples, 2, 3});
  const Tensor target = b.Input("target", DType::kF64, {examples, 2});
  const Tensor kernel = b.Variable("0.weight", Drawn({3, 2, 2}, 0));
  const Tensor shift = b.Variable("0.bias", Drawn({3}, 1));
  const Tensor scale = b.Variable("1.weight", Drawn({3}, 2));
  const Tensor bias = b.Variable("1.bias", Drawn({3}, 3));
  const Tensor weight = b.Variable("4.weight", Drawn({2, 6}, 4));
  const Tensor offset = b.Variable("4.bias", Drawn({2}, 5));
  b.Variable("mean", HostTensor({DType::kF64, {3}, {}}), false);
  b.Variable("variance", HostTensor::Of<double>({3}, {1, 1, 1}), false);
  const Tensor normal =
      BatchNormTraining(Conv(x, kernel, shift), scale, bias, "mean", "variance",
                        {.shards = shards});
  const Tensor y = MatMul(Reshape(Relu(normal), {examples, 6}), weight,
                          {.transpose_b = true}) +
                   offset;
  const Tensor loss = MseLoss(y, target);
  Sgd(b.Gradients(loss), b.Scalar(DType::kF64, 0.1));
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Module SmallResNet18(int shards) {
  auto module = ResNet18Training({.batch = 8,
                                  .image = 8,
                                  .classes = 5,
                                  .width = 4,
                                  .batch_norm_shards = shards});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<Session> OverDevices(Module module, int devices) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "data";
  return TrainingSession(std::move(module), EqualCpus(devices, kTrainingMemory),
                         options);
}

std::vector<HostTensor> Batch(int64_t examples, int step) {
  std::vector<HostTensor> inputs;
  inputs.push_back(Drawn({examples, 2, 3}, 10 + step));
  inputs.push_back(Drawn({examples, 2}, 20 + step));
  return inputs;
}

// The losses of four steps.
Numbers Train(Session& session, int64_t examples = 6) {
  Numbers losses;
  for (int step = 0; step < 4; ++step) {
    const Numbers loss = CheckedStep(session, step, Batch(examples, step));
    losses.insert(losses.end(), loss.begin(), loss.end());
    ExpectEqualReplicas(session, session.plan().devices.size());
  }
  return losses;
}

Numbers ValueOf(Session& session, const std::string& variable) {
  const auto value = session.ReadVariable(variable);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? ToNumbers(*value) : Numbers();
}

// Two replicas, and one device that normalizes the batch's halves separately.
TEST(BatchNormOfReplicas, TrainsAsDistributedDataParallelDoes) {
  for (const int devices : {1, 2}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices"));
    const auto session = OverDevices(TrainingModule(/*shards=*/2), devices);
    ASSERT_NE(session, nullptr);
    ExpectNear(Train(*session), Recorded("losses of two replicas"));
    for (const char* name : {"0.weight", "1.weight", "4.weight"}) {
      ExpectNear(ValueOf(*session, name),
                 Recorded(absl::StrCat("two replicas' ", name)));
    }
    ExpectNear(ValueOf(*session, "mean"),
               Recorded("two replicas' 1.running_mean"));
    ExpectNear(ValueOf(*session, "variance"),
               Recorded("two replicas' 1.running_var"));
  }
}

TEST(BatchNormOfReplicas, OwnStatisticsNeedNoCollective) {
  const auto own = OverDevices(TrainingModule(2), 2);
  const auto shared = OverDevices(TrainingModule(1), 2);
  ASSERT_NE(own, nullptr);
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(JoinedSums(*own), 1 + 6);  // of the loss, and gradients
  // Sums of x and of its squares. The sums for the statistics' gradients are
  // the gradients of scale and bias.
  EXPECT_EQ(JoinedSums(*shared), 1 + 6 + 2);
}

// Running statistics are those of replica 0: one collective for all of them, on
// the stream of the kernels.
TEST(BatchNormOfReplicas, RunningStatisticsAreGatheredTogether) {
  const auto session = OverDevices(SmallResNet18(/*shards=*/2), 2);
  ASSERT_NE(session, nullptr);
  const Entry& step = session->plan().entries[0];
  std::vector<int> gathered;  // values of each collective
  for (const OpView& op : step.graph->ops()) {
    if (CollectiveOf(op) != CollectiveKind::kAllGather) continue;
    gathered.push_back(op.num_operands());
  }
  EXPECT_EQ(gathered, std::vector<int>{40});  // of 20 batch norms
  for (const Stream& stream : step.streams) EXPECT_EQ(stream.name, "compute");
}

// Of five examples one device has three and the other two: sums are weighted by
// their number.
TEST(BatchNormOfReplicas, UnevenShardsHaveTheStatisticsOfTheBatch) {
  const auto one = OverDevices(TrainingModule(/*shards=*/1, 5), 1);
  const auto two = OverDevices(TrainingModule(/*shards=*/1, 5), 2);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(JoinedSums(*two), 1 + 6 + 2);
  ExpectNear(Train(*two, 5), Train(*one, 5));
  for (const auto& [name, expected] : VariablesOf(*one)) {
    SCOPED_TRACE(name);
    ExpectNear(ValueOf(*two, name), expected);
  }
}

std::vector<HostTensor> ImagesAndLabels() {
  HostTensor images({DType::kF32, {8, 3, 8, 8}, {}});
  const HostTensor drawn = Drawn(images.type().dims, 0);
  for (int64_t i = 0; i < drawn.type().num_elements(); ++i) {
    SetFromDouble(images, i, GetAsDouble(drawn, i));
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(std::move(images));
  inputs.push_back(DrawnIndices({8}, 5));
  return inputs;
}

NamedNumbers AfterAStep(Session& session) {
  CheckedStep(session, 0, ImagesAndLabels());
  return VariablesOf(session);
}

// torch_models_test compares one device with PyTorch.
TEST(BatchNormOfReplicas, ResNet18IsTrainedBothWays) {
  NamedNumbers values[2];
  for (const int shards : {1, 2}) {
    SCOPED_TRACE(absl::StrCat(shards, " shards"));
    const auto one = OverDevices(SmallResNet18(shards), 1);
    const auto two = OverDevices(SmallResNet18(shards), 2);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    values[shards - 1] = AfterAStep(*two);
    ExpectSameVariables(values[shards - 1], AfterAStep(*one), kRoundings);
    ExpectEqualReplicas(*two, 2);
  }
  // Statistics of the halves differ from those of the batch.
  EXPECT_GT(
      RoundingsApart(values[1].at("fc.weight"), values[0].at("fc.weight")),
      100 * kRoundings);
}

}  // namespace
}  // namespace partita
