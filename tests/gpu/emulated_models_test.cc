// Whole models on 1, 2 and 4 emulated GPUs: the bits of the reference in the
// orders of 20 seeds, however doubts about the driver are read; no finding.
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "tests/gpu/emulated_machine.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using emulated_gpu::AllReadings;
using emulated_gpu::EmulatedGpuOptions;
using emulated_gpu::NamedReadings;
using ::testing::IsEmpty;

constexpr uint64_t kSeeds = 20;
constexpr int64_t kGpuMemory = int64_t{1} << 26;

// A second step takes about as long as the first.
int StepsOf(uint64_t seed) { return seed < 2 ? 2 : 1; }

// A training step of a model, of which each GPU has a part.
struct Model {
  const char* name;
  absl::StatusOr<Module> (*make)(int gpus);
  // On several GPUs, and how many parts that takes: all.
  const char* strategy;
  std::optional<int64_t> PlannerOptions::*parts;
};
std::ostream& operator<<(std::ostream& out, const Model& model) {
  return out << model.name;
}

absl::StatusOr<Module> Mnist(int gpus) {
  return MnistTraining({.batch = gpus, .image = 16});
}

absl::StatusOr<Module> ResNet(int gpus) {
  return ResNet18Training({.batch = 2, .image = 8, .classes = 4, .width = 2});
}

// By AdamW, the model's own optimizer.
absl::StatusOr<Module> Gpt(int gpus) {
  return GptTraining({.batch = gpus,
                      .layers = 2,
                      .width = 8,
                      .heads = 2,
                      .context = 4,
                      .vocabulary = 16,
                      .dropout = 0.1});
}

constexpr Model kModels[] = {
    {"Mnist", Mnist, "data", &PlannerOptions::replicas},
    {"ResNet", ResNet, "pipeline", &PlannerOptions::stages},
    {"Gpt", Gpt, "data", &PlannerOptions::replicas},
};

std::shared_ptr<const Plan> PlanOf(const Model& model, int gpus) {
  CompileOptions options;
  if (gpus == 1) {
    options.strategy = "single";
    options.planner.device = "gpu:0";
  } else {
    options.strategy = model.strategy;
    options.planner.*model.parts = gpus;
  }
  auto module = model.make(gpus);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  auto compiled =
      Compile(*std::move(module), NewGpus(gpus, kGpuMemory), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return nullptr;
  return std::make_shared<const Plan>(std::move(compiled->plan));
}

// The devices that run kernels in the first entry.
std::set<std::string> BusyDevices(const Plan& plan) {
  const Entry& entry = plan.entries[0];
  std::set<std::string> names;
  for (const Program& program : entry.programs) {
    for (const Command& command : program.commands) {
      if (command.kind != Command::Kind::kKernel) continue;
      const DeviceId device = entry.streams[command.stream.index].device;
      names.insert(plan.devices[device.index].traits.name);
    }
  }
  return names;
}

absl::Status SetInputs(Session& session) {
  for (int i = 0; i < session.num_inputs(); ++i) {
    const absl::Status set = session.SetInput(
        i, RandomTensor(session.input_type(i), /*seed=*/i + 1, 0, 4));
    if (!set.ok()) return set;
  }
  return absl::OkStatus();
}

// What each step must give (Session::RunReference), found in the first order.
using Expected = std::vector<std::vector<HostTensor>>;

// Runs steps in one order.
void ExpectReferenceBits(const std::shared_ptr<const Plan>& plan,
                         const EmulatedGpuOptions& options, int steps,
                         Expected& expected) {
  EmulatedMachine machine(options);
  {
    auto session = Session::Create(plan);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->notice(), "");
    ASSERT_TRUE(SetInputs(**session).ok());
    for (int step = 0; step < steps; ++step) {
      if (static_cast<size_t>(step) == expected.size()) {
        auto reference = (*session)->RunReference();
        ASSERT_TRUE(reference.ok()) << reference.status();
        expected.push_back(*std::move(reference));
      }
      const absl::Status run = (*session)->Run();
      ASSERT_TRUE(run.ok()) << run;
      ExpectIsReference(**session, step, expected[step]);
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

class EmulatedModels : public testing::TestWithParam<std::tuple<Model, int>> {};

TEST_P(EmulatedModels, HaveTheBitsOfTheReferenceInEveryOrder) {
  const auto& [model, gpus] = GetParam();
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const Plan> plan = PlanOf(model, gpus);
  ASSERT_NE(plan, nullptr);
  std::set<std::string> all;
  for (int i = 0; i < gpus; ++i) all.insert(absl::StrCat("gpu:", i));
  EXPECT_EQ(BusyDevices(*plan), all);
  const double compiled = SecondsSince(start);
  Expected expected;
  const std::vector<NamedReadings> readings = AllReadings();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const NamedReadings& reading = readings[seed % readings.size()];
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", readings ", reading.name));
    ExpectReferenceBits(plan,
                        {.gpus = gpus,
                         .bytes_per_gpu = 2 * kGpuMemory,
                         .peers = AllPeers(gpus),
                         .seed = seed,
                         .order = OrderOf(seed),
                         .readings = reading.readings},
                        StepsOf(seed), expected);
    if (HasFatalFailure()) return;
  }
  std::cout << model.name << " on " << gpus << " emulated GPUs: compiled in "
            << compiled << " s, " << kSeeds << " seeds in "
            << SecondsSince(start) - compiled << " s\n";
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedModels,
                         testing::Combine(testing::ValuesIn(kModels),
                                          testing::Values(1, 2, 4)),
                         [](const auto& tested) {
                           return absl::StrCat(std::get<0>(tested.param).name,
                                               "On", std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace partita
