// Trains a network of two layers on two virtual devices, each on its half of
// the batch.
// SPDX-License-Identifier: Apache-2.0
//
//   two_layers MACHINE.json

#include <cstdio>
#include <memory>
#include <utility>

#include "graph/builder/losses.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/random_tensor.h"
#include "partita/partita.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 64, kFeatures = 8, kHidden = 32, kClasses = 2;

// The whole step is one graph: forward, loss, gradients and update.
absl::StatusOr<Module> TrainingStep() {
  GraphBuilder b("train");
  Tensor x = b.Input("x", DType::kF32, {kBatch, kFeatures});
  Tensor labels = b.Input("labels", DType::kI64, {kBatch});
  Tensor w1 = b.Variable("w1", HeWeights({kFeatures, kHidden}, kFeatures, 1));
  Tensor b1 = b.Variable("b1", HostTensor({DType::kF32, {kHidden}, {}}));
  Tensor w2 = b.Variable("w2", HeWeights({kHidden, kClasses}, kHidden, 2));
  Tensor b2 = b.Variable("b2", HostTensor({DType::kF32, {kClasses}, {}}));
  Tensor scores = MatMul(Relu(MatMul(x, w1) + b1), w2) + b2;
  Tensor loss = CrossEntropyLoss(scores, labels);
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.1), {.momentum = 0.9});
  b.Output("loss", loss);
  return b.Build();
}

// Points in a cube; the class is whether the first two numbers have one sign.
absl::Status SetBatch(Session& session, uint64_t seed) {
  HostTensor x = RandomTensor({DType::kF32, {kBatch, kFeatures}, {}}, seed,
                              /*low=*/-1, /*high=*/1);
  HostTensor labels({DType::kI64, {kBatch}, {}});
  for (int64_t i = 0; i < kBatch; ++i) {
    const float* point = &x.data<float>()[i * kFeatures];
    labels.data<int64_t>()[i] = point[0] * point[1] > 0 ? 1 : 0;
  }
  PARTITA_RETURN_IF_ERROR(session.SetInput("x", x));
  return session.SetInput("labels", labels);
}

absl::Status Train(const char* machine_file) {
  PARTITA_ASSIGN_OR_RETURN(Machine machine, ReadMachine(machine_file));
  PARTITA_ASSIGN_OR_RETURN(Module step, TrainingStep());
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(step), machine,
                                                      {.strategy = "data"}));
  PARTITA_ASSIGN_OR_RETURN(
      std::unique_ptr<Session> session,
      Session::Create(std::make_shared<Plan>(std::move(compiled.plan)),
                      {.devices = DeviceMode::kVirtual}));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<DeviceMemory> use,
                           session->MemoryUse());
  for (const DeviceMemory& memory : use) {
    std::printf("%s: %ld bytes of weights and momenta\n", memory.device.c_str(),
                static_cast<long>(memory.persistent));
  }
  for (int i = 1; i <= 1000; ++i) {
    PARTITA_RETURN_IF_ERROR(SetBatch(*session, /*seed=*/i));
    PARTITA_RETURN_IF_ERROR(session->Run());
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* loss,
                             session->GetOutput("loss"));
    if (i != 1 && i % 250 != 0) continue;
    std::printf("step %4d: loss %.2f\n", i, loss->data<float>()[0]);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: two_layers MACHINE.json\n");
    return 2;
  }
  const absl::Status status = partita::Train(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
