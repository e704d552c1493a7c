// Plans of whole models on several machines under random delays: the bits of
// their references, and within tolerance the values of eval.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/evaluate.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{1} << 30;

struct Setting {
  std::string name;
  Machine machine;
  CompileOptions options;
};

std::vector<Setting> Settings() {
  CompileOptions single, list, pipeline;
  single.strategy = "single";
  list.strategy = "list";
  pipeline.strategy = "pipeline";
  pipeline.depth = 2;
  return {{"single", EqualCpus(1, kMemory), single},
          {"list over three cpus", EqualCpus(3, kMemory), list},
          {"list over cpu and gpus", CpuAndGpus(2, kMemory), list},
          {"pipeline", EqualCpus(2, kMemory), pipeline}};
}

// A session of the compiled module with inputs set; null after a failure.
std::unique_ptr<Session> SessionOf(Module module, const Setting& setting,
                                   const std::vector<HostTensor>& inputs) {
  auto compiled = Compile(std::move(module), setting.machine, setting.options);
  EXPECT_TRUE(compiled.ok()) << setting.name << ": " << compiled.status();
  if (!compiled.ok()) return nullptr;
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << setting.name << ": " << session.status();
  if (!session.ok()) return nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Status set =
        (*session)->SetInput(static_cast<int>(i), inputs[i]);
    EXPECT_TRUE(set.ok()) << set;
  }
  return *std::move(session);
}

// Runs with and without delays; every output has the reference's bits.
void ExpectReferenceBits(Session& session, const std::string& name) {
  auto reference = session.RunReference();
  ASSERT_TRUE(reference.ok()) << name << ": " << reference.status();
  for (uint64_t seed = 0; seed < 4; ++seed) {
    RunOptions options;
    if (seed > 0) options.chaos_seed = seed;
    const absl::Status run = session.Run(options);
    ASSERT_TRUE(run.ok()) << name << ": " << run;
    for (int i = 0; i < session.num_outputs(); ++i) {
      ASSERT_TRUE((*session.GetOutput(i))->byte_span() ==
                  (*reference)[i].byte_span())
          << name << ", chaos " << seed << ", output "
          << session.output_name(i);
    }
  }
}

void ExpectNear(const HostTensor& found, const HostTensor& expected,
                const std::string& name) {
  ASSERT_EQ(found.type(), expected.type());
  for (int64_t i = 0; i < found.type().num_elements(); ++i) {
    const double e = GetAsDouble(expected, i);
    if (std::isnan(e)) continue;
    ASSERT_NEAR(GetAsDouble(found, i), e, 1e-3 * (1 + std::abs(e)))
        << name << ", element " << i;
  }
}

template <typename MakeModule>
void ExpectRunsEverywhere(MakeModule make, uint64_t seed) {
  const Module module = make();
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), seed);
  auto values = Evaluate(module.main(), inputs);
  ASSERT_TRUE(values.ok()) << values.status();
  for (const Setting& setting : Settings()) {
    auto session = SessionOf(make(), setting, inputs);
    if (session == nullptr) continue;
    ExpectReferenceBits(*session, setting.name);
    for (int i = 0; i < session->num_outputs(); ++i) {
      ExpectNear(**session->GetOutput(i), (*values)[i], setting.name);
    }
  }
}

TEST(RunEqualsReferenceTest, Perceptron) {
  ExpectRunsEverywhere(
      [] {
        return *TwoLayerPerceptron({.batch = 3, .inputs = 50, .hidden = 33});
      },
      1);
}

TEST(RunEqualsReferenceTest, SmallConvNet) {
  ExpectRunsEverywhere([] { return *SmallConvNet(); }, 2);
}

// No kernel computes sin, so the fused body is split. The rest after the matmul
// cannot be one loop, because the softmax reads %e.
TEST(RunEqualsReferenceTest, AnInnerValueOfASplitBodyMayBeRead) {
  constexpr char kText[] = R"(
graph @f(%x: f32[8, 8], %w: f32[8, 8]) -> (f32[8, 8], f32[8, 8]) {
  %a, %y = fused %x, %w @body(%x: f32[8, 8], %w: f32[8, 8]) {
    %m = matmul %x, %w : f32[8, 8]
    %e = erf %m : f32[8, 8]
    %t = tanh %e : f32[8, 8]
    %s = sin %t : f32[8, 8]
    return %e, %s
  } : f32[8, 8], f32[8, 8]
  %z = softmax %a {axis = 1} : f32[8, 8]
  return %z, %y
}
)";
  ExpectRunsEverywhere(
      [&] { return *ParseModule(kText, "f", OpSet::BuiltIn()); }, 3);
}

// Nobody reads %s, so no kernel is chosen for it.
TEST(RunEqualsReferenceTest, ASplitBodyMayHaveAnUnreadResult) {
  constexpr char kText[] = R"(
graph @f(%x: f32[8, 8], %w: f32[8, 8]) -> f32[8, 8] {
  %a, %y = fused %x, %w @body(%x: f32[8, 8], %w: f32[8, 8]) {
    %m = matmul %x, %w : f32[8, 8]
    %s = sin %m : f32[8, 8]
    return %m, %s
  } : f32[8, 8], f32[8, 8]
  return %a
}
)";
  ExpectRunsEverywhere(
      [&] { return *ParseModule(kText, "f", OpSet::BuiltIn()); }, 4);
}

TEST(RunEqualsReferenceTest, RandomGraphs) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    ExpectRunsEverywhere([&] { return RandomGraph(seed); }, seed);
  }
}

}  // namespace
}  // namespace partita
