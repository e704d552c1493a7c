// Fusion does not prevent sharding: what pins or a strategy can shard node by
// node, they can shard when nodes are fused.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/shard.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 28;
const std::vector<std::string>& Both() {
  static const auto& both = *new std::vector<std::string>{"cpu:0", "cpu:1"};
  return both;
}

// "fused %y sharded, neg %z": the nodes that both devices compute.
std::string ComputedOnBoth(const Plan& plan) {
  std::vector<std::string> nodes;
  for (const OpView& op : plan.module.main().ops()) {
    if (op.op().traits.placed_only || op.num_operands() == 0) continue;
    if (op.node().placement.devices.size() != 2) continue;
    nodes.push_back(
        absl::StrCat(op.ToString(), IsSharded(op) ? " sharded" : ""));
  }
  return absl::StrJoin(nodes, ", ");
}

Module ModuleOf(absl::string_view text) {
  absl::StatusOr<Module> module = ParseModule(text, "f", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status() << text;
  return *std::move(module);
}

// Runs the plan and compares it with the graph.
std::string Compiled2(absl::string_view text, const CompileOptions& options) {
  const Module module = ModuleOf(text);
  absl::StatusOr<Compiled> compiled =
      Compile(module.Clone(), EqualCpus(2, kRoom), options);
  if (!compiled.ok()) return std::string(compiled.status().message());
  const std::string computed = ComputedOnBoth(compiled->plan);
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  const auto run = RunVirtually(std::move(compiled->plan), inputs);
  EXPECT_TRUE(run.ok()) << run.status() << text;
  if (!run.ok()) return computed;
  EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus()) << text;
  const auto expected = Evaluate(module.main(), inputs);
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!expected.ok()) return computed;
  for (size_t i = 0; i < expected->size(); ++i) {
    const double atol = 2e-5 * std::max(1.0, LargestMagnitude((*expected)[i]));
    EXPECT_EQ(Close(absl::MakeSpan(&run->outputs[i], 1),
                    absl::MakeSpan(&(*expected)[i], 1), 0, atol),
              absl::OkStatus())
        << text;
  }
  return computed;
}

std::string Pinned(absl::string_view text, std::vector<Pin> pins,
                   bool fuses = true) {
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = std::move(pins);
  if (!fuses) options.passes.skip = {"fuse_epilogue", "fuse_elementwise"};
  return Compiled2(text, options);
}

bool Refused(const std::string& computed) {
  return absl::StrContains(computed, "; expected");
}

// Every node, fused or not, if there are kernels for it.
void ExpectAllSharded(absl::string_view text, std::vector<Pin> pins) {
  const std::string computed = Pinned(text, std::move(pins));
  EXPECT_FALSE(Refused(computed)) << computed;
  for (absl::string_view node : absl::StrSplit(computed, ", ")) {
    EXPECT_TRUE(absl::EndsWith(node, " sharded")) << computed;
  }
}

// The product needs all columns of %x, the sum some of them.
std::string Residual(absl::string_view activation) {
  return absl::StrCat(R"(
graph @f(%x: f32[4, 16], %w: f32[16, 16]) -> f32[4, 16] {
  %a = matmul %x, %w : f32[4, 16]
  %t = )",
                      activation, R"( %a : f32[4, 16]
  %y = add %t, %x : f32[4, 16]
  return %y
})");
}

TEST(FusedPins, AResidualOfTheProductsOwnOperandIsSharded) {
  for (const char* activation : {"tanh", "relu"}) {
    const std::string text = Residual(activation);
    for (int dim : {0, 1}) {
      ExpectAllSharded(text, {{"*", Both(), dim}});
      ExpectAllSharded(
          text, {{"a", Both(), dim}, {"t", Both(), dim}, {"y", Both(), dim}});
    }
  }
}

TEST(FusedPins, AProductWithItselfIsSharded) {
  constexpr char kSquare[] = R"(
graph @f(%x: f32[16, 16]) -> f32[16, 16] {
  %a = matmul %x, %x : f32[16, 16]
  %y = relu %a : f32[16, 16]
  return %y
})";
  ExpectAllSharded(kSquare, {{"*", Both(), 0}});
  ExpectAllSharded(kSquare, {{"*", Both(), 1}});
}

// Groups of channels are separate products; the pin splits the groups.
TEST(FusedPins, AGroupedConvolutionIsShardedByGroups) {
  constexpr char kGrouped[] = R"(
graph @f(%x: f32[2, 8, 6, 6], %w: f32[8, 4, 3, 3]) -> f32[2, 8, 4, 4] {
  %c = conv %x, %w {groups = 2} : f32[2, 8, 4, 4]
  %r = relu %c : f32[2, 8, 4, 4]
  return %r
})";
  ExpectAllSharded(kGrouped, {{"*", Both(), 0}});
  EXPECT_EQ(Pinned(kGrouped, {{"*", Both(), 1}}),
            "conv %c sharded, relu %r sharded");
}

// Rows of %h are samples; the product reads the rows of all samples.
TEST(FusedPins, ReplicasShardASumOfNeighboursAndTheirOwn) {
  CompileOptions options;
  options.strategy = "data";
  EXPECT_EQ(Compiled2(R"(
graph @f(%near: f32[8, 8], %x: f32[8, 3]) -> f32[8, 3] {
  %a = matmul %near, %x : f32[8, 3]
  %y = add %a, %x : f32[8, 3]
  return %y
})",
                      options),
            "fused %y sharded");
}

TEST(FusedPins, AnErrorNamesThePinAndTheDimension) {
  constexpr char kConv[] = R"(
graph @f(%x: f32[2, 2, 8, 8], %w: f32[3, 2, 3, 3]) -> f32[2, 3, 6, 6] {
  %c = conv %x, %w : f32[2, 3, 6, 6]
  %r = relu %c : f32[2, 3, 6, 6]
  return %r
})";
  EXPECT_EQ(Pinned(kConv, {{"c", Both(), 2}}),
            "pin c=cpu:0,cpu:1/split2: conv %c: found a split along dimension "
            "2 of its result, whose shards depend on one another; expected a "
            "dimension with independent shards; choose another dimension, or "
            "leave the node whole on one device");
  // If a pattern matches the node, it is replicated on both devices.
  EXPECT_EQ(Pinned(kConv, {{"*", Both(), 2}}), "conv %c, relu %r sharded");
}

// Square values, so that values are read along several dimensions: products,
// activations and residuals; if `grouped`, convolutions instead of products.
class ResidualGraph {
 public:
  ResidualGraph(uint64_t seed, bool grouped) : bits_(seed), grouped_(grouped) {
    const int steps = 3 + static_cast<int>(Below(6));
    for (int i = 0; i < steps; ++i) AddStep();
  }

  std::string Text() const {
    return absl::StrCat("graph @f(%v0: ", type(), ", %v1: ", type(),
                        ", %w: f32[6, 3, 3, 3]) -> ", type(), " {\n", body_,
                        "  return %v", count_ - 1, "\n}\n");
  }
  const char* type() const {
    return grouped_ ? "f32[2, 6, 4, 4]" : "f32[6, 6]";
  }
  int rank() const { return grouped_ ? 4 : 2; }

  // Pins for all values that have several possible pins, most of them equal.
  std::vector<Pin> Pins(bool wildcard) {
    const int dim = static_cast<int>(Below(rank()));
    if (wildcard) return {{"*", Both(), dim}};
    std::vector<Pin> pins;
    for (int i = 2; i < count_; ++i) {
      if (Below(5) == 0) continue;
      pins.push_back({absl::StrCat("v", i), Both(), Below(6) == 0 ? -1 : dim});
    }
    if (pins.empty()) pins.push_back({"v2", Both(), -1});
    return pins;
  }

 private:
  uint64_t Below(uint64_t limit) { return bits_() % limit; }
  // Most often the last value, so that chains are long.
  std::string Value() {
    return absl::StrCat("%v", Below(2) == 0 ? count_ - 1 : Below(count_));
  }

  void AddStep() {
    static constexpr const char* kUnary[] = {"tanh", "relu", "sigmoid"};
    static constexpr const char* kBinary[] = {"add", "mul", "add"};
    switch (Below(3)) {
      case 0:
        Add(grouped_ ? absl::StrCat("conv ", Value(),
                                    ", %w {groups = 2, pads_before = [1, 1], "
                                    "pads_after = [1, 1]}")
                     : absl::StrCat("matmul ", Value(), ", ", Value()));
        // Keeps values small.
        return Add(absl::StrCat("tanh %v", count_ - 1));
      case 1:
        return Add(absl::StrCat(kUnary[Below(3)], " ", Value()));
      default:
        return Add(
            absl::StrCat(kBinary[Below(3)], " ", Value(), ", ", Value()));
    }
  }
  void Add(const std::string& node) {
    absl::StrAppend(&body_, "  %v", count_++, " = ", node, " : ", type(), "\n");
  }

  std::mt19937_64 bits_;
  const bool grouped_;
  int count_ = 2;
  std::string body_;
};

TEST(FusedPins, FusionKeepsShardings) {
  const int count = std::getenv("PARTITA_FULL") != nullptr ? 2000 : 32;
  int sharded = 0, fused = 0;
  for (int seed = 0; seed < count; ++seed) {
    ResidualGraph graph(seed, /*grouped=*/seed % 4 == 3);
    const std::string text = graph.Text();
    const std::vector<Pin> pins = graph.Pins(/*wildcard=*/seed % 2 == 0);
    SCOPED_TRACE(absl::StrCat("seed ", seed, text));
    if (Refused(Pinned(text, pins, /*fuses=*/false))) continue;
    const std::string with = Pinned(text, pins);
    ASSERT_FALSE(Refused(with)) << with;
    sharded += absl::StrContains(with, "sharded");
    fused += absl::StrContains(with, "fused");
  }
  EXPECT_GT(sharded, count / 3);
  EXPECT_GT(fused, count / 3);
}

}  // namespace
}  // namespace partita
