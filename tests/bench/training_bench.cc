// Makes plans of training steps, and times them; called by tests/bench/train.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "partita/options/arguments.h"
#include "partita/partita.h"

namespace partita {
namespace {

constexpr char kUsage[] =
    "usage: training_bench compile MODEL BATCH DEVICES THREADS PLAN\n"
    "           [--batch-norm-shards N] [--bucket-size MIB] "
    "[--sharded-updates KIB]\n"
    "           [--micro-batches N]\n"
    "       training_bench run PLAN STEPS\n";

constexpr FlagDef kFlags[] = {
    {"batch-norm-shards", "N",
     "shards of the batch with statistics of their own"},
    {"bucket-size", "MIB", "size of a bucket, in MiB"},
    {"sharded-updates", "KIB",
     "variables with at least KIB KiB have sharded updates"},
    {"micro-batches", "N", "parts of the batch, in sequence"},
};

absl::StatusOr<Module> ModelOf(const std::string& name, int64_t batch,
                               int batch_norm_shards) {
  if (name == "resnet18") {
    return ResNet18Training(
        {.batch = batch, .image = 64, .batch_norm_shards = batch_norm_shards});
  }
  if (batch_norm_shards > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": found shards of batch norms; expected them of resnet18 only"));
  }
  if (name == "mnist") return MnistTraining({.batch = batch});
  if (name == "gpt") {
    return GptTraining({.batch = batch,
                        .layers = 6,
                        .width = 384,
                        .heads = 6,
                        .context = 256});
  }
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": found no such model; expected mnist, resnet18 or gpt"));
}

// 0 for anything that is not a count.
int Count(const std::string& text) {
  return std::max(0, std::atoi(text.c_str()));
}

// Identical devices with this host's rates for this number of threads.
Machine MachineOf(int devices, int threads) {
  const MachineDevice host = DetectHost({.gpus = false}).devices[0];
  const double share = static_cast<double>(threads) / host.traits.threads;
  Machine machine{.name = "bench"};
  for (int i = 0; i < devices; ++i) {
    MachineDevice cpu = host;
    cpu.traits.name = absl::StrCat("cpu:", i);
    cpu.traits.threads = threads;
    for (double& rate : cpu.traits.peak_flops) rate *= share;
    cpu.traits.memory_bandwidth *= share;
    cpu.memory = host.memory / devices;
    cpu.reserve = host.reserve / devices;
    for (const MachineDevice& other : machine.devices) {
      machine.links.push_back({.from = other.traits.name,
                               .to = cpu.traits.name,
                               .bandwidth = 5e9,
                               .latency = 1e-5});
    }
    machine.devices.push_back(std::move(cpu));
  }
  return machine;
}

// compile MODEL BATCH DEVICES THREADS PLAN
absl::Status CompileStep(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  const int devices = Count(words[3]);
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t shards,
      arguments.GetInt("batch-norm-shards", 1, 1, 1 << 20));
  PARTITA_ASSIGN_OR_RETURN(Module module, ModelOf(words[1], Count(words[2]),
                                                  static_cast<int>(shards)));
  CompileOptions options;
  options.strategy = devices > 1 ? "data" : "single";
  PARTITA_ASSIGN_OR_RETURN(const int64_t bucket_size,
                           arguments.GetInt("bucket-size", 0, 0, 1 << 20));
  if (arguments.has("bucket-size")) options.bucket_bytes = bucket_size << 20;
  PARTITA_ASSIGN_OR_RETURN(const int64_t sharded_updates,
                           arguments.GetInt("sharded-updates", 0, 0, 1 << 30));
  if (arguments.has("sharded-updates")) {
    options.planner.sharded_update_bytes = sharded_updates << 10;
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t micro_batches,
                           arguments.GetInt("micro-batches", 1, 1, 4096));
  options.micro_batches = static_cast<int>(micro_batches);
  PARTITA_ASSIGN_OR_RETURN(
      const Compiled compiled,
      Compile(std::move(module), MachineOf(devices, Count(words[4])), options));
  for (const std::string& node : compiled.report.fallbacks.nodes) {
    std::fprintf(stderr, "no fast kernel: %s\n", node.c_str());
  }
  return WritePlan(compiled.plan, words[5]).status();
}

// Images of 0..1, or labels and tokens.
absl::Status SetInputs(Session& session) {
  for (int i = 0; i < session.num_inputs(); ++i) {
    const TensorType& type = session.input_type(i);
    const double high = type.dtype == DType::kF32 ? 1 : 10;
    PARTITA_RETURN_IF_ERROR(
        session.SetInput(i, RandomTensor(type, i + 1, 0, high)));
  }
  return absl::OkStatus();
}

// The time of each step, fastest first.
absl::StatusOr<std::vector<double>> StepSeconds(Session& session, int steps) {
  std::vector<double> seconds;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    PARTITA_RETURN_IF_ERROR(session.Run());
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    seconds.push_back(taken.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// A line of /proc/self/status, in bytes.
int64_t Memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  int64_t kibibytes = 0;
  while (status >> name && name != field) {
    status.ignore(1 << 12, '\n');
  }
  status >> kibibytes;
  return kibibytes * 1024;
}

absl::Status RunSteps(const std::string& path, int steps) {
  const int64_t before = Memory("VmRSS:");
  LoadOptions options;
  options.devices = DeviceMode::kVirtual;  // one host emulates two, too
  options.trust_code = true;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                           Session::Load(path, options));
  PARTITA_RETURN_IF_ERROR(session->UseEntry("train"));
  PARTITA_RETURN_IF_ERROR(SetInputs(*session));
  PARTITA_RETURN_IF_ERROR(StepSeconds(*session, 3).status());
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  PARTITA_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                           StepSeconds(*session, steps));
  int64_t arenas = 0;
  PARTITA_ASSIGN_OR_RETURN(const std::vector<DeviceMemory> memory,
                           session->MemoryUse());
  for (const DeviceMemory& device : memory) {
    arenas += device.arena;
  }
  std::printf(
      "{\"seconds\": %.9f, \"fastest\": %.9f, \"bytes\": %lld, "
      "\"arenas\": %lld}\n",
      seconds[steps / 2], seconds.front(),
      static_cast<long long>(Memory("VmHWM:") - before),
      static_cast<long long>(arenas));
  return absl::OkStatus();
}

// Words [first, end).
bool AreCounts(const std::vector<std::string>& words, size_t first,
               size_t end) {
  for (size_t i = first; i < end; ++i) {
    if (Count(words[i]) < 1) return false;
  }
  return true;
}

absl::Status Main(absl::Span<const char* const> words) {
  PARTITA_ASSIGN_OR_RETURN(const Arguments arguments,
                           Arguments::Parse(words, kFlags));
  const std::vector<std::string>& given = arguments.positional();
  if (given.size() == 6 && given[0] == "compile" && AreCounts(given, 2, 5)) {
    return CompileStep(arguments);
  }
  if (given.size() == 3 && given[0] == "run" && AreCounts(given, 2, 3)) {
    return RunSteps(given[1], Count(given[2]));
  }
  return absl::InvalidArgumentError(kUsage);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const absl::Status status = partita::Main(
      absl::MakeConstSpan(argv + 1, static_cast<size_t>(argc - 1)));
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
