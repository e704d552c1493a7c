// Reasons and prices of nodes, against compilations with pins.
// SPDX-License-Identifier: Apache-2.0

#include "partita/explain_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "partita/node_matches.h"
#include "partita/reason_sentence.h"
#include "placement/cost/node_roles.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/planner.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kRoom = int64_t{1} << 26;

// No pass fuses them.
constexpr char kChain[] = R"(
graph @f(%x: f32[64, 64]) -> f32[64, 64] {
  %a = matmul %x, %x : f32[64, 64]
  %b = softmax %a {axis = 1} : f32[64, 64]
  %c = matmul %b, %x : f32[64, 64]
  return %c
}
)";

constexpr char kTraining[] = R"(
variable @w: f32[2, 3] trainable = f32[2, 3] [1, -2, 3, 4, 5, -6]

graph @train(%x: f32[8, 2], %t: f32[8, 3]) -> f32[] {
  %w = variable {dtype = f32, name = "w", shape = [2, 3]} : f32[2, 3]
  %y = matmul %x, %w : f32[8, 3]
  %d = sub %y, %t : f32[8, 3]
  %squares = mul %d, %d : f32[8, 3]
  %loss = reduce_sum %squares {axes = [0, 1], keep_dims = false} : f32[]
  %xt = transpose %x {perm = [1, 0]} : f32[2, 8]
  %g = matmul %xt, %d : f32[2, 3]
  %n = sub %w, %g : f32[2, 3]
  update @w = %n
  return %loss
}
)";

Module Parsed(const std::string& text) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Plan Planned(Module module, const Machine& machine,
             const CompileOptions& options) {
  auto compiled = Predict(std::move(module), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return std::move(compiled->plan);
}

std::vector<Pin> PinsOf(const std::vector<std::string>& devices) {
  return {{"a", {devices[0]}}, {"b", {devices[1]}}, {"c", {devices[2]}}};
}

// %a, %b and %c in order.
Plan PlannedAt(const std::vector<Placement>& placements,
               const Machine& machine) {
  Module module = Parsed(kChain);
  Graph& graph = *module.functions()[0];
  const std::vector<OpView> ops = graph.ops();
  for (size_t n = 0; n < placements.size(); ++n) {
    graph.node(ops[n].id()).placement = placements[n];
  }
  return Planned(std::move(module), machine, {});
}

Plan PlannedChain(const std::vector<std::string>& devices,
                  const Machine& machine) {
  CompileOptions options;
  options.pins = PinsOf(devices);
  return Planned(Parsed(kChain), machine, options);
}

NodeExplanation Explained(const Plan& plan, const Machine& machine,
                          const std::string& name) {
  const auto node = FindPlanNode(plan, name);
  EXPECT_TRUE(node.ok()) << node.status();
  auto explanation = ExplainNode(plan, {machine, true}, *node);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return *std::move(explanation);
}

NodeExplanation Priced(const Plan& plan, const Machine& machine,
                       const std::string& name, Module model,
                       const CompileOptions& options = {}) {
  NodeExplanation explanation = Explained(plan, machine, name);
  const absl::Status priced =
      PriceOptions(plan, {machine, true}, *FindPlanNode(plan, name),
                   std::move(model), options, explanation);
  EXPECT_TRUE(priced.ok()) << priced;
  return explanation;
}

std::vector<std::string> NamesOf(const NodeExplanation& explanation) {
  std::vector<std::string> names;
  for (const NodeOption& option : explanation.options) {
    names.push_back(option.name);
  }
  return names;
}

PlanFigures Simulated(const Plan& plan, const Machine& machine) {
  const auto figures = FiguresOf(plan, PlanMachine{machine, true});
  EXPECT_TRUE(figures.ok()) << figures.status();
  return *figures;
}

TEST(ExplainNodeTest, TheReasonIsTheStrategys) {
  const Machine machine = EqualCpus(2, kRoom);
  const Plan plan = PlannedChain({"cpu:0", "cpu:1", "cpu:1"}, machine);
  const NodeExplanation b = Explained(plan, machine, "%b");
  EXPECT_EQ(b.entry, "f");
  EXPECT_EQ(b.node, "softmax %b");
  EXPECT_EQ(b.placement, "cpu:1");
  EXPECT_EQ(b.reason, "pinned");
  EXPECT_EQ(b.why, "--pin, or `on` in the model's text");
  EXPECT_EQ(b.present, Simulated(plan, machine));
  EXPECT_THAT(NamesOf(b),
              ElementsAre("cpu:0", "cpu:1", "cpu:0,cpu:1 (replicated)",
                          "cpu:0,cpu:1 (split 0)"));
  EXPECT_FALSE(b.options[0].is_present);
  EXPECT_TRUE(b.options[1].is_present);
  EXPECT_TRUE(b.options[0].has_kernel);
  EXPECT_EQ(b.options[1].seconds, b.seconds);
  EXPECT_EQ(b.options[2].seconds, b.seconds);
  EXPECT_LT(b.options[3].seconds, b.seconds);
  EXPECT_FALSE(b.options[0].figures.has_value());
}

// A compilation in which every node is pinned is another way to the same plan.
TEST(ExplainNodeTest, AnAlternativeIsPricedAsTheCompiledPlan) {
  const Machine machine = EqualCpus(3, kRoom);
  const std::vector<std::string> devices = {"cpu:0", "cpu:1", "cpu:1"};
  const Plan plan = PlannedChain(devices, machine);
  const std::vector<std::string> names = {"a", "b", "c"};
  for (size_t n = 0; n < names.size(); ++n) {
    const NodeExplanation priced =
        Priced(plan, machine, names[n], Parsed(kChain));
    // A matmul is also split over its rows, its columns and its sum.
    EXPECT_EQ(priced.options.size(), names[n] == "b" ? 5u : 7u);
    for (const NodeOption& option : priced.options) {
      std::vector<Placement> moved;
      for (const std::string& device : devices) {
        moved.push_back({.devices = {device}});
      }
      moved[n] = option.placement;
      ASSERT_TRUE(option.figures.has_value()) << option.refusal;
      if (absl::StrContains(option.name, "partial sum")) {  // no pin has one
        EXPECT_EQ(option.figures->entries[0].transfers.collectives, 1);
        continue;
      }
      EXPECT_EQ(*option.figures, Simulated(PlannedAt(moved, machine), machine))
          << names[n] << " on " << option.name;
    }
  }
}

TEST(ExplainNodeTest, ASplitNodeShowsWhereItIs) {
  const Machine machine = EqualCpus(2, kRoom);
  CompileOptions options;
  options.strategy = "data";
  const Plan plan = Planned(Parsed(kTraining), machine, options);
  const NodeExplanation y =
      Priced(plan, machine, "y", Parsed(kTraining), options);
  EXPECT_EQ(y.placement, "cpu:0,cpu:1 (split 0)");
  EXPECT_THAT(NamesOf(y),
              ElementsAre("cpu:0", "cpu:1", "cpu:0,cpu:1 (replicated)",
                          "cpu:0,cpu:1 (split 0)", "cpu:0,cpu:1 (split 1)",
                          "cpu:0,cpu:1 (partial sum, operand 0 split 1)"));
  for (const NodeOption& option : y.options) {
    EXPECT_EQ(option.is_present, option.name == y.placement) << option.name;
  }
  ASSERT_TRUE(y.options[3].figures.has_value()) << y.options[3].refusal;
  EXPECT_EQ(*y.options[3].figures, y.present);
}

TEST(ExplainNodeTest, AWholeNodeMayBeReplicatedThoughItCannotBeSplit) {
  const Machine machine = EqualCpus(2, kRoom);
  const Plan plan = Planned(Parsed("graph @f(%x: f32[]) -> f32[] {\n"
                                   "  %y = exp %x : f32[]\n  return %y\n}\n"),
                            machine, {});
  EXPECT_THAT(NamesOf(Explained(plan, machine, "y")),
              ElementsAre("cpu:0", "cpu:1", "cpu:0,cpu:1 (replicated)"));
}

TEST(ExplainNodeTest, OfManyPlacementsTheFirstAndThePresentAreListed) {
  const Machine machine = EqualCpus(20, kRoom);
  CompileOptions options;
  options.pins = {{"*", {"cpu:19"}}};
  const Plan plan = Planned(Parsed(kChain), machine, options);
  const NodeExplanation b = Explained(plan, machine, "b");
  ASSERT_EQ(b.options.size(), kMostOptionsOnOne + 3);
  EXPECT_EQ(b.options_left_out, 3);
  EXPECT_EQ(b.options[kMostOptionsOnOne - 1].name, "cpu:15");
  EXPECT_EQ(b.options[kMostOptionsOnOne].name, "cpu:19");
  EXPECT_TRUE(b.options[kMostOptionsOnOne].is_present);
}

// A property of all plans and nodes: the price of the present device is what
// the simulation of the plan says.
void ExpectPresentPrices(const Plan& plan, const Machine& machine,
                         const Module& model, const CompileOptions& options) {
  const PlanFigures simulated = Simulated(plan, machine);
  int present = 0;
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const Graph& graph = *plan.entries[e].graph;
    for (const OpView& op : graph.ops()) {
      if (!IsModelNode(op) || !Computes(op)) continue;
      const PlanNode node{e, op.id()};
      auto explanation = ExplainNode(plan, {machine, true}, node);
      ASSERT_TRUE(explanation.ok()) << explanation.status();
      EXPECT_EQ(explanation->present, simulated);
      const absl::Status priced = PriceOptions(
          plan, {machine, true}, node, model.Clone(), options, *explanation);
      ASSERT_TRUE(priced.ok()) << op.ToString() << ": " << priced;
      for (const NodeOption& option : explanation->options) {
        if (!option.is_present) continue;
        ++present;
        ASSERT_TRUE(option.figures.has_value()) << option.refusal;
        EXPECT_EQ(*option.figures, simulated) << op.ToString();
      }
    }
  }
  EXPECT_TRUE(present > 0 || plan.devices.size() > 1);
}

TEST(ExplainNodeTest, ThePresentDeviceCostsWhatSimulateSays) {
  const Machine machine = EqualCpus(2, kRoom);
  const Module models[] = {*SmallConvNet(), Parsed(kChain), Parsed(kTraining)};
  for (const char* strategy : {"single", "data", "pipeline", "list"}) {
    for (const Module& model : models) {
      CompileOptions options;
      options.strategy = strategy;
      ExpectPresentPrices(Planned(model.Clone(), machine, options), machine,
                          model, options);
    }
  }
}

TEST(ExplainNodeTest, MicroBatchesComeFromThePlan) {
  const Machine machine = EqualCpus(2, kRoom);
  const Module model = Parsed(kTraining);
  CompileOptions options;
  options.strategy = "pipeline";
  options.micro_batches = 2;
  const Plan plan = Planned(model.Clone(), machine, options);
  ExpectPresentPrices(plan, machine, model, {});
}

TEST(ExplainNodeTest, ADeviceWithoutRoomIsRefusedWithTheBytes) {
  Machine machine = EqualCpus(2, kRoom);
  machine.devices[1].memory = 20'000;
  const Plan plan = PlannedChain({"cpu:0", "cpu:0", "cpu:0"}, machine);
  const NodeExplanation a = Priced(plan, machine, "a", Parsed(kChain));
  EXPECT_FALSE(a.options[1].figures.has_value());
  EXPECT_THAT(a.options[1].refusal, HasSubstr("needed on cpu:1"));
  EXPECT_TRUE(a.options[0].figures.has_value());
}

TEST(ExplainNodeTest, ADeviceWithoutALinkIsRefused) {
  Machine machine = EqualCpus(2, kRoom);
  machine.links.clear();
  const Plan plan = PlannedChain({"cpu:0", "cpu:0", "cpu:0"}, machine);
  const NodeExplanation b = Priced(plan, machine, "b", Parsed(kChain));
  EXPECT_FALSE(b.options[1].figures.has_value());
  EXPECT_THAT(b.options[1].refusal, HasSubstr("no link"));
}

TEST(ExplainNodeTest, ABrokenConstraintRefusesAndIsNamed) {
  const Machine machine = EqualCpus(2, kRoom);
  const Plan plan = PlannedChain({"cpu:0", "cpu:0", "cpu:0"}, machine);
  CompileOptions options;
  options.planner.constraints = {{Constraint::Kind::kTogether, {"a", "b"}}};
  const NodeExplanation b = Priced(plan, machine, "b", Parsed(kChain), options);
  EXPECT_THAT(b.constraints, ElementsAre("together a,b"));
  EXPECT_THAT(b.options[1].refusal, HasSubstr("together a,b"));
  const NodeExplanation c = Priced(plan, machine, "c", Parsed(kChain), options);
  EXPECT_THAT(c.constraints, IsEmpty());
  EXPECT_TRUE(c.options[1].figures.has_value()) << c.options[1].refusal;
}

TEST(ExplainNodeTest, AnotherModelIsRefused) {
  const Machine machine = EqualCpus(2, kRoom);
  const Plan plan = PlannedChain({"cpu:0", "cpu:1", "cpu:1"}, machine);
  NodeExplanation explanation = Explained(plan, machine, "b");
  const auto price = [&](Module model, const CompileOptions& options) {
    return std::string(PriceOptions(plan, {machine, true},
                                    *FindPlanNode(plan, "b"), std::move(model),
                                    options, explanation)
                           .message());
  };
  EXPECT_THAT(price(*SmallConvNet(), {}),
              HasSubstr("found no node of the plan"));
  EXPECT_THAT(
      price(Parsed(absl::StrCat("graph @g(%x: f32[4]) -> f32[4] {\n"
                                "  %y = relu %x : f32[4]\n  return %y\n}\n",
                                kChain)),
            {}),
      HasSubstr("found a model of 2 functions"));
  CompileOptions other;
  other.output_device = "cpu:0";
  EXPECT_THAT(price(Parsed(kChain), other),
              HasSubstr("found another graph for entry @f"));
}

TEST(ExplainNodeTest, PricesOfAProfileNeedTheMachineFile) {
  Machine machine = EqualCpus(2, kRoom);
  const Plan plan = PlannedChain({"cpu:0", "cpu:1", "cpu:1"}, machine);
  machine.profile.hash = "5c5e";
  NodeExplanation explanation = Explained(plan, machine, "b");
  EXPECT_FALSE(explanation.options[0].seconds.has_value());
  const absl::Status priced =
      PriceOptions(plan, {machine, true}, *FindPlanNode(plan, "b"),
                   Parsed(kChain), {}, explanation);
  EXPECT_THAT(std::string(priced.message()), HasSubstr("by --machine"));
}

TEST(ExplainNodeTest, WhatTheCompilerInsertsHasNoAlternatives) {
  const Machine machine = EqualCpus(2, kRoom);
  const Plan plan = PlannedChain({"cpu:0", "cpu:1", "cpu:1"}, machine);
  const std::vector<OpView> copies = plan.entries[0].graph->ops(kCopy);
  ASSERT_EQ(copies.size(), 1u);
  const auto copy = ExplainNode(plan, {machine, true}, {0, copies[0].id()});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_THAT(copy->node, HasSubstr("copy %"));
  EXPECT_EQ(copy->placement, "cpu:1");
  EXPECT_THAT(copy->why, HasSubstr("the compiler inserted it"));
  EXPECT_THAT(copy->options, IsEmpty());
}

TEST(FindPlanNodeTest, ANodeIsFoundByItsNameAndInsideAFusedNode) {
  const Machine machine = EqualCpus(1, kRoom);
  const Plan plan =
      Planned(Parsed("graph @f(%x: f32[64, 64]) -> f32[64, 64] {\n"
                     "  %a = matmul %x, %x : f32[64, 64]\n"
                     "  %h = relu %a : f32[64, 64]\n  return %h\n}\n"),
              machine, {});
  const auto h = FindPlanNode(plan, "%h");
  ASSERT_TRUE(h.ok()) << h.status();
  const auto a = FindPlanNode(plan, "a");
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->node, h->node);
  EXPECT_EQ(FindPlanNode(plan, "q").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(FindPlanNodeTest, TheEmptyNameFindsNoUnnamedValueOfABody) {
  const Machine machine = EqualCpus(1, kRoom);
  const Plan plan =
      Planned(Parsed("graph @f(%x: f32[64, 64]) -> f32[64, 64] {\n"
                     "  %1 = matmul %x, %x : f32[64, 64]\n"
                     "  %h = relu %1 : f32[64, 64]\n  return %h\n}\n"),
              machine, {});
  for (const char* name : {"", "%"}) {
    EXPECT_EQ(FindPlanNode(plan, name).status().code(),
              absl::StatusCode::kNotFound);
  }
}

TEST(FindPlanNodeTest, ANameThatIsNotFoundIsExplained) {
  const Machine machine = EqualCpus(1, kRoom);
  const Plan plan =
      Planned(Parsed("graph @f(%image: f32[4]) -> f32[4] {\n"
                     "  %scores = exp %image : f32[4]\n  return %scores\n}\n"),
              machine, {});
  EXPECT_EQ(FindPlanNode(plan, "%image").status().message(),
            "plan @f: found no node %image, which is an input; expected the "
            "name of a node of the plan's text, which `partita check --text` "
            "prints");
  EXPECT_EQ(FindPlanNode(plan, "score").status().message(),
            "plan @f: found no node %score; expected a name of the plan's "
            "text, which `partita check --text` prints; did you mean "
            "%scores?");
}

TEST(FindPlanNodeTest, ANameOfTwoEntriesNeedsTheEntry) {
  const Machine machine = EqualCpus(1, kRoom);
  const Plan plan = Planned(Parsed("graph @f(%x: f32[4]) -> f32[4] {\n"
                                   "  %y = exp %x : f32[4]\n  return %y\n}\n"
                                   "graph @g(%x: f32[4]) -> f32[4] {\n"
                                   "  %y = relu %x : f32[4]\n  return %y\n}\n"),
                            machine, {});
  EXPECT_EQ(FindPlanNode(plan, "y").status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto y = FindPlanNode(plan, "y", "g");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->entry, 1u);
  EXPECT_THAT(std::string(FindPlanNode(plan, "y", "k").status().message()),
              HasSubstr("found no entry k; expected one of f, g"));
}

TEST(ReasonSentenceTest, EveryReasonHasASentence) {
  const Graph graph("f", nullptr);
  for (int r = 0; r <= static_cast<int>(Reason::kSearched); ++r) {
    PlacedNode node;
    node.reason = static_cast<Reason>(r);
    node.seconds = 1e-6;
    const std::string reason = ReasonText(graph, node);
    EXPECT_NE(ReasonSentence(reason), reason);
  }
  EXPECT_NE(ReasonSentence("first_of_equals"), "first_of_equals");
  EXPECT_EQ(ReasonSentence("near_constant %w1"),
            "its weight %w1 is pinned there");
  EXPECT_EQ(ReasonSentence("of a later version"), "of a later version");
}

}  // namespace
}  // namespace partita
