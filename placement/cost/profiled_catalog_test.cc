// Tests of measured prices: exact signatures, scaling, and who reads them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/profiled_catalog.h"

#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/graph.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/measured_scale.h"
#include "placement/cost/node_signature.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{1} << 30;

// A work node of so many elements, whose roofline is one nanosecond for each.
class OneWork {
 public:
  explicit OneWork(int64_t elements) {
    const ValueId x = sample_.Input("x", elements);
    const ValueId y = sample_.Work("y", {x}, elements);
    sample_.Return({y});
    id_ = sample_.node(y);
  }
  OpView node() const { return sample_.graph().view(id_); }
  Graph& graph() { return sample_.graph(); }

 private:
  SampleGraph sample_;
  NodeId id_;
};

// Two kernels; "plain.loops" is a fallback.
class TwoKernels : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    const double seconds =
        1e-9 * static_cast<double>(node.result_type(0).num_elements());
    return {Choice("fast.work", seconds, "fast 2"),
            Choice("other.work", 1.5 * seconds, "other 1"),
            Choice("plain.loops", 20 * seconds, "eval 1")};
  }

 private:
  static KernelChoice Choice(const char* kernel, double seconds,
                             const char* version) {
    KernelChoice choice;
    choice.kernel = kernel;
    choice.operands.resize(1);
    choice.results.resize(1);
    choice.seconds = seconds;
    choice.fallback = choice.kernel.library == "plain";
    choice.arithmetics = {{.source = version}};
    return choice;
  }
};

DeviceTraits Cpu() { return EqualCpus(1, kMemory).devices[0].traits; }

// What a measurement of `ratio` times the roofline of choice `i` says.
MeasuredNode Measured(const OpView& node, size_t i, double ratio) {
  const KernelChoice choice = TwoKernels().Choices(node, Cpu())[i];
  MeasuredNode measured = UnmeasuredNode(node, Cpu(), choice);
  measured.warm = choice.seconds * ratio;
  return measured;
}

ProfiledCatalog CatalogOf(std::vector<MeasuredNode> nodes) {
  static const TwoKernels& all = *new TwoKernels;
  auto profile = std::make_shared<Profile>();
  profile->nodes = std::move(nodes);
  return ProfiledCatalog(all, std::move(profile));
}

double SecondsOf(const ProfiledCatalog& catalog, const OpView& node,
                 const KernelId& kernel) {
  for (const KernelChoice& choice : catalog.Choices(node, Cpu())) {
    if (choice.kernel == kernel) return choice.seconds;
  }
  ADD_FAILURE() << "no kernel " << kernel;
  return 0;
}

TEST(ProfiledCatalogTest, AnExactSignatureHasItsMeasuredTime) {
  const OneWork small(1000);
  const OneWork large(64000);
  const MeasuredNode measured = Measured(small.node(), 0, 7);
  const ProfiledCatalog catalog =
      CatalogOf({measured, Measured(large.node(), 0, 2)});
  EXPECT_EQ(SecondsOf(catalog, small.node(), "fast.work"), measured.seconds());
}

TEST(ProfiledCatalogTest, BothCachesAreKeptForSteps) {
  const OneWork work(1000);
  MeasuredNode measured = Measured(work.node(), 0, 2);
  const auto by_caches = [&] {
    return CatalogOf({measured}).Choices(work.node(), Cpu())[0].by_caches;
  };
  EXPECT_FALSE(by_caches().has_value());
  measured.cold = 3 * *measured.warm;
  ASSERT_TRUE(by_caches().has_value());
  EXPECT_EQ(by_caches()->warm, *measured.warm);
  EXPECT_EQ(by_caches()->cold, *measured.cold);
  // Another node's are scaled.
  const OneWork other(4000);
  const auto scaled =
      CatalogOf({measured}).Choices(other.node(), Cpu())[0].by_caches;
  ASSERT_TRUE(scaled.has_value());
  EXPECT_NEAR(scaled->warm, 4 * *measured.warm, 1e-12);
  EXPECT_NEAR(scaled->cold, 4 * *measured.cold, 1e-12);
  // What was seen in steps counts alone.
  measured.in_steps = SecondsInSteps{.seconds = *measured.warm, .steps = 1};
  EXPECT_FALSE(by_caches().has_value());
}

TEST(ProfiledCatalogTest, OthersAreScaledLikeTheirFamily) {
  const OneWork known(1000);
  const OneWork other(4000);
  const ProfiledCatalog catalog = CatalogOf({Measured(known.node(), 0, 3)});
  EXPECT_NEAR(SecondsOf(catalog, other.node(), "fast.work"), 12e-6, 1e-12);
  // A kernel that was not measured has its family's ratio.
  EXPECT_NEAR(SecondsOf(catalog, other.node(), "other.work"), 18e-6, 1e-12);
}

TEST(ProfiledCatalogTest, AMeasuredKernelDoesNotLoseToUnmeasuredLoops) {
  const OneWork work(1000);
  const ProfiledCatalog slow = CatalogOf({Measured(work.node(), 0, 100)});
  EXPECT_NEAR(SecondsOf(slow, work.node(), "fast.work"), 100e-6, 1e-12);
  EXPECT_NEAR(SecondsOf(slow, work.node(), "plain.loops"), 2e-3, 1e-12);
  // Loops do not become faster because another kernel is.
  const ProfiledCatalog fast = CatalogOf({Measured(work.node(), 0, 0.5)});
  EXPECT_NEAR(SecondsOf(fast, work.node(), "plain.loops"), 20e-6, 1e-12);
}

TEST(ProfiledCatalogTest, PlainLoopsScaleNoOtherKernel) {
  const OneWork known(1000);
  const OneWork other(4000);
  const ProfiledCatalog catalog = CatalogOf({Measured(known.node(), 2, 5)});
  EXPECT_NEAR(SecondsOf(catalog, other.node(), "fast.work"), 4e-6, 1e-12);
  EXPECT_NEAR(SecondsOf(catalog, other.node(), "plain.loops"), 400e-6, 1e-12);
}

TEST(ProfiledCatalogTest, TheBestChoiceIsTheFastestMeasured) {
  const OneWork work(1000);
  const ProfiledCatalog catalog =
      CatalogOf({Measured(work.node(), 0, 4), Measured(work.node(), 1, 1)});
  const std::vector<KernelChoice> choices = catalog.Choices(work.node(), Cpu());
  ASSERT_EQ(choices.size(), 3u);
  EXPECT_EQ(choices[0].kernel, "other.work");
  EXPECT_TRUE(choices[2].fallback);
}

TEST(ProfiledCatalogTest, PlannersReadThePrice) {
  OneWork work(1000);
  const MeasuredNode measured = Measured(work.node(), 0, 9);
  const ProfiledCatalog catalog = CatalogOf({measured});
  const Machine machine = EqualCpus(1, kMemory);
  const CostModel costs(work.graph(), machine, catalog);
  EXPECT_EQ(costs.cost(work.node().id(), MachineDeviceId(0)).seconds,
            measured.seconds());
}

// Before there is a node, and as simulation prices it later.
TEST(ProfiledCatalogTest, AReorderHasTheMeasuredPriceOfItsNode) {
  const TensorType type = {DType::kF32, {16, 16}, {}};
  const Layout layout = *ParseLayout("ab8a", 2);
  LiteralPool literals;
  Graph graph("g", &literals);
  const ValueId x = graph.AddInput("x", type);
  const NodeId reorder =
      *graph.AddNode({.op = &kReorder,
                      .operands = {x},
                      .attributes = {{"layout", layout.ToString()}}});
  const MeasuredNode measured = Measured(graph.view(reorder), 0, 0.5);
  const ProfiledCatalog catalog = CatalogOf({measured});
  EXPECT_EQ(catalog.ReorderSeconds(type, layout, Cpu()), measured.seconds());
  EXPECT_EQ(SecondsOf(catalog, graph.view(reorder), "fast.work"),
            measured.seconds());
}

TEST(ProfiledCatalogTest, AnotherVersionIsReported) {
  const OneWork work(1000);
  MeasuredNode old = Measured(work.node(), 0, 2);
  old.version = "fast 1";
  const ProfiledCatalog catalog = CatalogOf({old});
  EXPECT_TRUE(catalog.CheckVersions().ok());
  catalog.Choices(work.node(), Cpu());
  EXPECT_EQ(catalog.CheckVersions().message(),
            "profile: found measurements of fast 1; expected fast 2, which "
            "this program has; measure again with `partita profile`");
}

TEST(NodeSignatureTest, EverythingThatChangesTheTimeChangesIt) {
  const OneWork work(1000);
  const OneWork larger(1001);
  const KernelChoice choice = TwoKernels().Choices(work.node(), Cpu())[0];
  const std::string signature = SignatureOf(work.node(), Cpu(), choice);
  EXPECT_EQ(SignatureOf(OneWork(1000).node(), Cpu(), choice), signature);
  EXPECT_NE(SignatureOf(larger.node(), Cpu(), choice), signature);
  DeviceTraits cpu = Cpu();
  cpu.threads = 3;
  EXPECT_NE(SignatureOf(work.node(), cpu, choice), signature);
  cpu = Cpu();
  cpu.isa = "avx512";
  EXPECT_NE(SignatureOf(work.node(), cpu, choice), signature);
  cpu = Cpu();
  cpu.name = "another:7";
  EXPECT_EQ(SignatureOf(work.node(), cpu, choice), signature);
  KernelChoice other = choice;
  other.operands[0] = *ParseLayout("a8a", 1);
  EXPECT_NE(SignatureOf(work.node(), Cpu(), other), signature);
  other = choice;
  other.arithmetics[0].source = "fast 3";
  EXPECT_NE(SignatureOf(work.node(), Cpu(), other), signature);
  EXPECT_TRUE(absl::StartsWith(signature, "work f32[1000] -> f32[1000] #"))
      << signature;
}

TEST(NodeSignatureTest, ANodeIsReadOnceForAllChoices) {
  const OneWork work(1000);
  const NodeSignatures signatures(work.node(), Cpu());
  EXPECT_EQ(signatures.family(), FamilyOf(work.node(), Cpu()));
  std::set<std::string> all;
  for (const KernelChoice& choice : TwoKernels().Choices(work.node(), Cpu())) {
    EXPECT_EQ(signatures.Of(choice), SignatureOf(work.node(), Cpu(), choice));
    all.insert(signatures.Of(choice));
  }
  EXPECT_EQ(all.size(), 3u);
}

TEST(NodeSignatureTest, ItIsBounded) {
  SampleGraph sample;
  std::vector<ValueId> inputs;
  for (int i = 0; i < 500; ++i) {
    inputs.push_back(sample.Input(absl::StrCat("x", i), 1000 + i));
  }
  const ValueId y = sample.Work("y", inputs, 10);
  const OpView node = sample.graph().view(sample.node(y));
  KernelChoice choice;
  choice.kernel = "fast.work";
  choice.operands.resize(500);
  choice.results.resize(1);
  const std::string signature = SignatureOf(node, Cpu(), choice);
  EXPECT_LE(signature.size(), kMostSignatureBytes);
  choice.operands[499] = *ParseLayout("a8a", 1);
  EXPECT_NE(SignatureOf(node, Cpu(), choice), signature);
}

TEST(MeasuredScaleTest, OneMeasurementIsARatio) {
  const MeasuredScale scale(std::vector<MeasuredRoofline>{{1e-6, 3e-6}});
  for (const double roofline : {1e-9, 1e-6, 1e-3}) {
    EXPECT_NEAR(scale.Seconds(roofline) / roofline, 3, 1e-9);
  }
  EXPECT_EQ(scale.Seconds(0), 0);
}

TEST(MeasuredScaleTest, AnOctaveHasTheGeometricMeanOfItsRatios) {
  const MeasuredScale scale(
      std::vector<MeasuredRoofline>{{1.0, 2.0}, {1.0, 8.0}});
  EXPECT_NEAR(scale.Seconds(1), 4, 1e-9);
}

TEST(MeasuredScaleTest, SmallAndLargeNodesHaveTheirOwnRatios) {
  const MeasuredScale scale(
      std::vector<MeasuredRoofline>{{1e-6, 1e-5}, {1e-2, 1e-2}});
  EXPECT_NEAR(scale.Seconds(1e-7), 1e-6, 1e-15);
  EXPECT_NEAR(scale.Seconds(1), 1, 1e-9);
  EXPECT_NEAR(scale.Seconds(1e-4), std::sqrt(1e-5 * 1e-2), 1e-9);  // halfway
}

TEST(MeasuredScaleTest, ALargerRooflineIsNeverFaster) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> exponent(-9, 0);
    std::uniform_real_distribution<double> ratio(-2, 2);
    std::vector<MeasuredRoofline> measured;
    const int count = 1 + static_cast<int>(seed % 30);
    for (int i = 0; i < count; ++i) {
      const double roofline = std::pow(10, exponent(random));
      measured.push_back({roofline, roofline * std::pow(10, ratio(random))});
    }
    const MeasuredScale scale(measured);
    double last = 0;
    for (double roofline = 1e-10; roofline < 10; roofline *= 1.07) {
      const double seconds = scale.Seconds(roofline);
      EXPECT_GE(seconds, last * (1 - 1e-12)) << "seed " << seed;
      last = seconds;
    }
  }
}

}  // namespace
}  // namespace partita
