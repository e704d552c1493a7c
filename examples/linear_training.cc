// Trains a linear model on one device and on two, which share batches of five
// examples unevenly: every example counts alike, and so the losses are the same
// except for rounding.
// SPDX-License-Identifier: Apache-2.0
//
//   linear_training MACHINE.json     (two equal devices or more)

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "graph/builder/losses.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/random_tensor.h"
#include "partita/partita.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 5, kFeatures = 3;
constexpr float kTrue[kFeatures] = {0.5f, -1, 2};  // what is to be found
constexpr int kSteps = 200;

// A step of SGD with momentum: @train(%x, %target) -> %loss.
absl::StatusOr<Module> Training() {
  GraphBuilder b("train");
  const Tensor x = b.Input("x", DType::kF32, {kBatch, kFeatures});
  const Tensor target = b.Input("target", DType::kF32, {kBatch, 1});
  const Tensor w =
      b.Variable("w", HostTensor({DType::kF32, {kFeatures, 1}, {}}));
  const Tensor loss = MseLoss(MatMul(x, w), target);
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.05), {.momentum = 0.9});
  b.Output("loss", loss);
  return b.Build();
}

absl::StatusOr<std::unique_ptr<Session>> Load(const Machine& machine,
                                              const char* strategy) {
  PARTITA_ASSIGN_OR_RETURN(Module module, Training());
  PARTITA_ASSIGN_OR_RETURN(
      Compiled compiled,
      Compile(std::move(module), machine, {.strategy = strategy}));
  return Session::Create(std::make_shared<Plan>(std::move(compiled.plan)),
                         {.devices = DeviceMode::kVirtual});
}

// How many examples each device is fed.
void PrintParts(const Session& session) {
  const Entry& entry = session.plan().entries[0];
  std::printf("parts of the batch of %ld:", static_cast<long>(kBatch));
  for (const Command& command : entry.programs[0].commands) {
    if (command.kind != Command::Kind::kFeed || command.port != 0) continue;
    const int64_t bytes = entry.buffers[command.results[0].index].range.size();
    std::printf(" %ld", static_cast<long>(bytes / (kFeatures * sizeof(float))));
  }
  std::printf("\n");
}

absl::StatusOr<float> Step(Session& session, uint64_t seed) {
  const HostTensor x =
      RandomTensor({DType::kF32, {kBatch, kFeatures}, {}}, seed, -1, 1);
  HostTensor target({DType::kF32, {kBatch, 1}, {}});
  for (int64_t i = 0; i < kBatch * kFeatures; ++i) {
    target.data<float>()[i / kFeatures] +=
        x.data<float>()[i] * kTrue[i % kFeatures];
  }
  PARTITA_RETURN_IF_ERROR(session.SetInput("x", x));
  PARTITA_RETURN_IF_ERROR(session.SetInput("target", target));
  PARTITA_RETURN_IF_ERROR(session.Run());
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* loss, session.GetOutput("loss"));
  return loss->data<float>()[0];
}

absl::Status Train(const char* machine_file) {
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachine(machine_file));
  PARTITA_ASSIGN_OR_RETURN(const auto one, Load(machine, "single"));
  PARTITA_ASSIGN_OR_RETURN(const auto replicas, Load(machine, "data"));
  PrintParts(*replicas);
  float difference = 0;
  for (int step = 1; step <= kSteps; ++step) {
    PARTITA_ASSIGN_OR_RETURN(const float expected, Step(*one, step));
    PARTITA_ASSIGN_OR_RETURN(const float loss, Step(*replicas, step));
    difference = std::max(difference, std::fabs(loss - expected));
    if (step == 1 || step % 50 == 0) {
      std::printf("step %3d: loss %.6f\n", step, loss);
    }
  }
  std::printf("largest difference from one device: %.1e\n", difference);
  PARTITA_ASSIGN_OR_RETURN(const auto weights, replicas->ReadReplicas("w"));
  for (const HostTensor& w : weights) {
    std::printf("w = [%.3f, %.3f, %.3f]\n", w.data<float>()[0],
                w.data<float>()[1], w.data<float>()[2]);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: linear_training MACHINE.json\n");
    return 2;
  }
  const absl::Status status = partita::Train(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
