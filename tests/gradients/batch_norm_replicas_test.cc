// Batch norm with statistics of each replica's own part of the batch, against
// what PyTorch's DistributedDataParallel computes (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

const Numbers& Recorded(const std::string& name) {
  static const auto& lists =
      *new std::map<std::string, Numbers>(ReadLists("torch_training.txt"));
  EXPECT_EQ(lists.count(name), 1u) << name;
  return lists.at(name);
}

// small_conv_net of torch_training.py, and a step of SGD on six examples.
Module TrainingModule(int parts) {
  GraphBuilder b("train");
  const Tensor x = b.Input("x", DType::kF64, {6, 2, 3});
  const Tensor target = b.Input("target", DType::kF64, {6, 2});
  const Tensor kernel = b.Variable("0.weight", Drawn({3, 2, 2}, 0));
  const Tensor shift = b.Variable("0.bias", Drawn({3}, 1));
  const Tensor scale = b.Variable("1.weight", Drawn({3}, 2));
  const Tensor bias = b.Variable("1.bias", Drawn({3}, 3));
  const Tensor weight = b.Variable("4.weight", Drawn({2, 6}, 4));
  const Tensor offset = b.Variable("4.bias", Drawn({2}, 5));
  b.Variable("mean", HostTensor({DType::kF64, {3}, {}}), false);
  b.Variable("variance", HostTensor::Of<double>({3}, {1, 1, 1}), false);
  const Tensor normal = BatchNormTraining(Conv(x, kernel, shift), scale, bias,
                                          "mean", "variance", {.parts = parts});
  const Tensor y =
      MatMul(Reshape(Relu(normal), {6, 6}), weight, {.transpose_b = true}) +
      offset;
  const Tensor loss = MseLoss(y, target);
  Sgd(b.Gradients(loss), b.Scalar(DType::kF64, 0.1));
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::unique_ptr<Session> OverDevices(Module module, int devices) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "data";
  auto compiled =
      Compile(std::move(module), EqualCpus(devices, int64_t{1} << 28), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

void SetBatch(Session& session, int step) {
  ASSERT_TRUE(session.SetInput("x", Drawn({6, 2, 3}, 10 + step)).ok());
  ASSERT_TRUE(session.SetInput("target", Drawn({6, 2}, 20 + step)).ok());
}

void ExpectEqualReplicas(Session& session) {
  for (const Variable& variable : session.plan().module.variables()) {
    const auto values = session.ReadReplicas(variable.name);
    ASSERT_TRUE(values.ok()) << values.status();
    for (const HostTensor& value : *values) {
      EXPECT_EQ(ToNumbers(value), ToNumbers(values->front())) << variable.name;
    }
  }
}

// The losses of four steps, each held against the reference.
Numbers Train(Session& session) {
  Numbers losses;
  for (int step = 0; step < 4; ++step) {
    SetBatch(session, step);
    const auto reference = session.RunReference();
    EXPECT_TRUE(reference.ok()) << reference.status();
    EXPECT_TRUE(session.Run().ok());
    losses.push_back(ToNumbers(**session.GetOutput("loss"))[0]);
    EXPECT_EQ(losses.back(), ToNumbers((*reference)[0])[0]);
    ExpectEqualReplicas(session);
  }
  return losses;
}

Numbers ValueOf(Session& session, const std::string& variable) {
  const auto value = session.ReadVariable(variable);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? ToNumbers(*value) : Numbers();
}

// Two replicas, and one device that takes the batch's halves apart.
TEST(BatchNormOfReplicas, TrainsAsDistributedDataParallelDoes) {
  for (const int devices : {1, 2}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices"));
    const auto session = OverDevices(TrainingModule(/*parts=*/2), devices);
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

// Partial sums that are joined.
int JoinedSums(const Session& session) {
  int joined = 0;
  const Graph& placed = session.plan().module.main();
  for (const OpView& op : placed.ops()) {
    joined += absl::c_count_if(
        op.node().placement.operands,
        [](const Sharding& s) { return s.kind == Sharding::Kind::kPartial; });
  }
  return joined;
}

TEST(BatchNormOfReplicas, OwnStatisticsAreNotExchanged) {
  const auto own = OverDevices(TrainingModule(2), 2);
  const auto shared = OverDevices(TrainingModule(1), 2);
  ASSERT_NE(own, nullptr);
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(JoinedSums(*own), 1 + 6);  // of the loss, and gradients
  // Of x and of its squares. The sums that the statistics' gradients need are
  // the gradients of scale and bias.
  EXPECT_EQ(JoinedSums(*shared), 1 + 6 + 2);
}

Module SmallResNet18(int parts) {
  auto module = ResNet18Training({.batch = 8,
                                  .image = 8,
                                  .classes = 5,
                                  .width = 4,
                                  .batch_norm_parts = parts});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// All variables but the count of steps after one step, as numbers.
std::map<std::string, Numbers> AfterAStep(Session& session) {
  HostTensor images({DType::kF32, {8, 3, 8, 8}, {}});
  const HostTensor drawn = Drawn(images.type().dims, 0);
  for (int64_t i = 0; i < drawn.type().num_elements(); ++i) {
    SetFromDouble(images, i, GetAsDouble(drawn, i));
  }
  EXPECT_TRUE(session.SetInput("images", images).ok());
  EXPECT_TRUE(session.SetInput("labels", DrawnIndices({8}, 5)).ok());
  EXPECT_TRUE(session.Run().ok());
  std::map<std::string, Numbers> values;
  for (const Variable& variable : session.plan().module.variables()) {
    if (variable.name == "step") continue;
    values[variable.name] = ValueOf(session, variable.name);
  }
  return values;
}

double Furthest(const std::map<std::string, Numbers>& a,
                const std::map<std::string, Numbers>& b) {
  double furthest = 0;
  for (const auto& [name, values] : a) {
    for (size_t i = 0; i < values.size(); ++i) {
      furthest = std::max(furthest, std::abs(values[i] - b.at(name)[i]));
    }
  }
  return furthest;
}

// One device is held against PyTorch (torch_models_test).
TEST(BatchNormOfReplicas, ResNet18IsTrainedBothWays) {
  std::map<std::string, Numbers> values[2];
  for (const int parts : {1, 2}) {
    SCOPED_TRACE(absl::StrCat(parts, " parts"));
    const auto one = OverDevices(SmallResNet18(parts), 1);
    const auto two = OverDevices(SmallResNet18(parts), 2);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    values[parts - 1] = AfterAStep(*two);
    EXPECT_LT(Furthest(AfterAStep(*one), values[parts - 1]), 1e-4);
    ExpectEqualReplicas(*two);
  }
  EXPECT_GT(Furthest(values[0], values[1]), 1e-2);
}

}  // namespace
}  // namespace partita
