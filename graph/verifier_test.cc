// Each fault by its smallest example.
// SPDX-License-Identifier: Apache-2.0

#include "graph/verifier.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"

namespace partita {
namespace {

Module Parsed(absl::string_view text) {
  absl::StatusOr<Module> module = ParseModule(text, "t", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// %y = relu %x; %z = neg %y.
Module TwoOps() {
  return Parsed(R"(graph @f(%x: f32[2, 3]) -> f32[2, 3] {
  %y = relu %x
  %z = neg %y
  return %z
}
)");
}

std::string Fault(const Graph& graph) {
  return std::string(Verify(graph).message());
}

TEST(Verifier, ASoundGraphPasses) {
  const Module module = TwoOps();
  EXPECT_EQ(Fault(module.main()), "");
  EXPECT_TRUE(VerifyModule(module).ok());
}

TEST(Verifier, AUseBeforeItsDefinition) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.MoveBefore(graph.order()[1], graph.order()[0]);
  EXPECT_EQ(Fault(graph),
            "@f: neg %z: found operand 0 without a definition before it; "
            "expected an input or an earlier result; move the node after it");
}

TEST(Verifier, AnOperandChangedWithoutTheUseLists) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.node(graph.order()[1]).operands[0] = graph.inputs()[0];
  EXPECT_EQ(Fault(graph),
            "@f: %x: found 1 listed uses; expected the 2 that read it; change "
            "operands with SetOperand\n"
            "@f: %y: found 1 listed uses; expected the 0 that read it; change "
            "operands with SetOperand");
}

TEST(Verifier, ATypeThatTheOpDoesNotInfer) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.value(graph.outputs()[0]).type.dims[1] = 4;
  EXPECT_EQ(Fault(graph),
            "@f: neg %z: found result 0: f32[2, 4]; expected f32[2, 3] as the "
            "op infers; infer its types again");
}

TEST(Verifier, ALayoutOfAnotherRank) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.value(graph.outputs()[0]).type.layout = *ParseLayout("acb", 3);
  EXPECT_EQ(Fault(graph),
            "@f: neg %z: found layout {acb} for rank 2; expected one letter "
            "per dimension");
}

TEST(Verifier, AnAttributeThatTheOpDoesNotHave) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.node(graph.order()[0]).attributes.Set("slope", 0.5);
  EXPECT_EQ(Fault(graph),
            "@f: relu %y: found attribute slope; expected one of: none; remove "
            "it or correct its name");
}

TEST(Verifier, TooFewOperands) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.SetOperands(graph.order()[1], {});
  EXPECT_EQ(Fault(graph),
            "@f: neg %z: found 0 operands; expected 1; see the op's page for "
            "its operands");
}

TEST(Verifier, AnOutputOfAnErasedNode) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.Erase(graph.order()[1]);
  EXPECT_EQ(Fault(graph),
            "@f: found output 0 that nothing defines; expected an input or a "
            "result; set the outputs again");
}

TEST(Verifier, OutputsMustHaveDifferentNames) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  const ValueId y = graph.node(graph.order()[0]).results[0];
  graph.SetOutputs({y, graph.outputs()[0]}, {"q", "q"});
  EXPECT_EQ(Fault(graph),
            "@f: found two outputs named \"q\"; expected a name of its own "
            "for each; rename one of them");
}

TEST(Verifier, PlacementsThatDoNotFit) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.set_input_placement(0, {.devices = {"gpu:0", "gpu:0"}});
  graph.node(graph.order()[0]).placement = {
      .devices = {"gpu:0", "gpu:1"},
      .operands = {{}, {}},
      .results = {{.kind = Sharding::Kind::kSplit, .dim = 2}}};
  EXPECT_EQ(Fault(graph),
            "@f: input %x: found device \"gpu:0\" twice or unnamed; expected "
            "each device once; correct the device set\n"
            "@f: relu %y: found 2 operand shardings; expected 1 or none; write "
            "one for each\n"
            "@f: relu %y: found result 0 split at 2 of f32[2, 3]; expected one "
            "of its dimensions; correct the sharding");
}

TEST(Verifier, AUnitDividesTheDimension) {
  for (const auto& [unit, fits] : {std::pair<int64_t, bool>{3, true},
                                   {2, false},
                                   {0, false},
                                   {-3, false}}) {
    const Module module = TwoOps();
    Graph& graph = module.main();
    graph.node(graph.order()[0]).placement = {
        .devices = {"gpu:0", "gpu:1"},
        .results = {{.kind = Sharding::Kind::kSplit, .dim = 1, .unit = unit}}};
    EXPECT_EQ(Fault(graph),
              fits ? ""
                   : absl::StrCat("@f: relu %y: found result 0 of f32[2, 3] "
                                  "split at 1 by ",
                                  unit,
                                  "; expected a unit that divides the "
                                  "dimension; correct the sharding"));
  }
}

TEST(Verifier, KernelBindingsThatDoNotFit) {
  const Module module = TwoOps();
  Graph& graph = module.main();
  graph.node(graph.order()[0]).kernel =
      KernelBinding{.kernel = "k", .workspace = -1, .in_place = {{0, 1}}};
  EXPECT_EQ(
      Fault(graph),
      "@f: relu %y: found workspace -1; expected 0 bytes or more; correct "
      "the kernel binding\n"
      "@f: relu %y: found in-place pair 0 -> 1; expected an operand and "
      "a result of the node; correct the kernel binding");
}

TEST(Verifier, FaultsInBodiesAreFound) {
  const Module module = Parsed(R"(graph @f(%x: f32[2]) -> f32[2] {
  %y = fused %x (%p: f32[2]) {
    %q = relu %p
    return %q
  }
  return %y
}
)");
  Graph& body = *module.main().node(module.main().order()[0]).regions[0];
  body.AddUpdate({"w", body.inputs()[0]});
  body.value(body.outputs()[0]).type.dtype = DType::kF16;
  EXPECT_EQ(Fault(module.main()),
            "@f: fused %y: body 0: relu %q: found result 0: f16[2]; expected "
            "f32[2] as the op infers; infer its types again\n"
            "@f: fused %y: body 0: update of @w: found an update in a body; "
            "expected none; update variables in the function");
}

TEST(Verifier, VariablesAreTheModules) {
  const Module module = Parsed(R"(variable @w: f32[2]
variable @v: f32[2]

graph @f(%x: f32[3]) -> () {
  %w = variable {dtype = f16, name = "w", shape = [2]}
  %u = variable {dtype = f32, name = "u"}
  update @v = %x
  return
}
)");
  EXPECT_EQ(VerifyModule(module).message(),
            "@f: variable %w: found f16[2]; expected f32[2] as variable @w is "
            "declared; correct one of them\n"
            "@f: variable %u: found variable @u, which is not declared; "
            "expected one of the module; declare it\n"
            "@f: update of @v: found f32[3]; expected f32[2] as variable @v is "
            "declared; correct one of them");
}

TEST(Verifier, NamesAreUnique) {
  Module module;
  module.AddFunction("f");
  module.AddFunction("f");
  module.AddVariable({.name = "w"});
  module.AddVariable({.name = "w"});
  EXPECT_EQ(VerifyModule(module).message(),
            "variable @w: found a second one; expected names given once; "
            "rename it\n"
            "@f: found a second graph; expected names given once; rename it");
}

TEST(Verifier, OnlyTheFirstTwentyFaultsAreShown) {
  Module module;
  Graph& graph = module.AddFunction("f");
  for (int i = 0; i < 25; ++i) graph.AddUpdate({absl::StrCat(i), ValueId()});
  const std::string fault = Fault(graph);
  EXPECT_NE(fault.find("update of @19"), std::string::npos);
  EXPECT_EQ(fault.find("update of @20"), std::string::npos);
  EXPECT_NE(fault.find("and 5 faults more"), std::string::npos);
}

}  // namespace
}  // namespace partita
