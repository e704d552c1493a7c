// Batch norm with statistics of each replica's own part of the batch, against
// what PyTorch's DistributedDataParallel computes (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
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

// small_conv_net of record_torch.py, and a step of SGD on six examples.
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

std::unique_ptr<Session> OverDevices(int parts, int devices) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "data";
  auto compiled = Compile(TrainingModule(parts),
                          EqualCpus(devices, int64_t{1} << 24), options);
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
    const auto session = OverDevices(/*parts=*/2, devices);
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

// Partial sums that are joined: of the loss, of the six gradients, and, where
// the statistics are those of the whole batch, at least two each way.
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
  const auto own = OverDevices(2, 2), shared = OverDevices(1, 2);
  ASSERT_NE(own, nullptr);
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(JoinedSums(*own), 1 + 6);
  // The mean and the variance. The gradient's sums may be those that the
  // gradients of scale and bias are.
  EXPECT_GE(JoinedSums(*shared), 1 + 6 + 2);
}

}  // namespace
}  // namespace partita
