// Trains a text classifier whose embedding is on the CPU and whose LSTM runs
// on a GPU: the table and its gradient are larger than the GPU's memory.
// SPDX-License-Identifier: Apache-2.0
//
//   hybrid_training MACHINE.json     (a CPU `cpu:0` and a GPU `gpu:0`)
//
// The model says nothing of devices; two pins do. Host threads play the GPU.

#include <cstdio>

#include "graph/builder/losses.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/random_tensor.h"
#include "graph/builder/recurrent.h"
#include "graph/ops/op_list.h"
#include "partita/partita.h"

namespace partita {
namespace {

constexpr int64_t kWords = 100'000, kFeatures = 48, kHidden = 32;
constexpr int64_t kTime = 6, kBatch = 32, kClasses = 4;
constexpr int kSteps = 80;

Tensor Weight(GraphBuilder& b, const char* name, Shape dims, double bound) {
  static uint64_t seed = 0;
  return b.Variable(
      name, RandomTensor({DType::kF32, dims, {}}, ++seed, -bound, bound));
}

Tensor Embed(GraphBuilder& b, Tensor words) {
  const GraphBuilder::Scope scope(b, "embedding");
  return Op(kGather, {Weight(b, "table", {kWords, kFeatures}, 0.5), words});
}

Tensor ReadSentence(GraphBuilder& b, Tensor x) {
  const GraphBuilder::Scope scope(b, "lstm");
  const RecurrentWeights weights = {
      .input = Weight(b, "input", {4 * kHidden, kFeatures}, 0.2),
      .hidden = Weight(b, "hidden", {4 * kHidden, kHidden}, 0.2),
      .input_bias = Weight(b, "input_bias", {4 * kHidden}, 0),
      .hidden_bias = Weight(b, "hidden_bias", {4 * kHidden}, 0)};
  const Tensor zero =
      b.Constant(HostTensor({DType::kF32, {kBatch, kHidden}, {}}));
  return Lstm(x, zero, zero, weights).hidden;
}

Tensor Classify(GraphBuilder& b, Tensor sentence) {
  const GraphBuilder::Scope scope(b, "classifier");
  return MatMul(sentence, Weight(b, "classes", {kHidden, kClasses}, 0.3));
}

// A step of SGD: @train(%words [time, n], %labels [n]) -> %loss.
absl::StatusOr<Module> Training() {
  GraphBuilder b("train");
  const Tensor words = b.Input("words", DType::kI64, {kTime, kBatch});
  const Tensor labels = b.Input("labels", DType::kI64, {kBatch});
  const Tensor scores = Classify(b, ReadSentence(b, Embed(b, words)));
  const Tensor loss = CrossEntropyLoss(scores, labels);
  Sgd(ClipByNorm(b.Gradients(loss), 5), b.Scalar(DType::kF32, 2));
  b.Output("loss", loss);
  return b.Build();
}

// Sentences of 200 words; the last word says the class.
void Draw(uint64_t step, HostTensor& words, HostTensor& labels) {
  for (int64_t i = 0; i < kTime * kBatch; ++i) {
    const auto word = static_cast<int64_t>(RandomWord(step, i) % 200);
    words.data<int64_t>()[i] = word * 499;
    if (i >= (kTime - 1) * kBatch)
      labels.data<int64_t>()[i % kBatch] = word % kClasses;
  }
}

absl::StatusOr<Compiled> CompileOver(const Machine& machine,
                                     std::vector<Pin> pins) {
  PARTITA_ASSIGN_OR_RETURN(Module module, Training());
  return Compile(std::move(module), machine,
                 {.strategy = "list", .pins = std::move(pins)});
}

absl::Status TrainOn(Session& session) {
  HostTensor words({DType::kI64, {kTime, kBatch}, {}});
  HostTensor labels({DType::kI64, {kBatch}, {}});
  for (int step = 1; step <= kSteps; ++step) {
    Draw(step, words, labels);
    PARTITA_RETURN_IF_ERROR(session.SetInput("words", words));
    PARTITA_RETURN_IF_ERROR(session.SetInput("labels", labels));
    PARTITA_RETURN_IF_ERROR(session.Run());
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* loss, session.GetOutput("loss"));
    if (step % 20 == 0 || step == 1) {
      std::printf("step %3d: loss %.3f\n", step, loss->data<float>()[0]);
    }
  }
  return absl::OkStatus();
}

absl::Status Train(const char* machine_file) {
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachine(machine_file));
  const auto on_the_gpu = CompileOver(machine, {{"*", {"gpu:0"}}});
  std::printf("all on gpu:0: %s\n",
              std::string(on_the_gpu.status().message()).c_str());
  PARTITA_ASSIGN_OR_RETURN(Compiled hybrid,
                           CompileOver(machine, {{"embedding", {"cpu:0"}},
                                                 {"lstm", {"gpu:0"}},
                                                 {"classifier", {"gpu:0"}}}));
  for (const DeviceMemoryUse& use : hybrid.report.devices) {
    std::printf("%s: arena %.1f MiB, %.1f of it variables\n",
                use.device.c_str(), use.arena / 1048576.0,
                use.persistent / 1048576.0);
  }
  std::printf("transfers: %d a step, %.1f KiB\n",
              hybrid.report.entries[0].copies,
              hybrid.report.entries[0].copied_bytes / 1024.0);
  PARTITA_ASSIGN_OR_RETURN(
      const auto session,
      Session::Create(std::make_shared<Plan>(std::move(hybrid.plan)),
                      {.devices = DeviceMode::kVirtual}));
  return TrainOn(*session);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: hybrid_training MACHINE.json\n");
    return 2;
  }
  const absl::Status status = partita::Train(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
