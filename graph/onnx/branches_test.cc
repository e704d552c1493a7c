// If: a condition that is known at import selects a branch.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/onnx/testing/onnx_text.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// One, x.
std::vector<HostTensor> Inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({3}, {-1, 0, 2}));
  return inputs;
}

std::string ResultOf(const std::string& graph,
                     const ImportOptions& options = {}) {
  const SketchedModel model(ModelOfText(
      absl::StrCat("<ir_version: 8, opset_import: [\"\" : 17]>\n", graph)));
  return model.Run(Inputs(), options);
}

TEST(Branches, AConstantPicksOne) {
  for (const bool is_true : {false, true}) {
    EXPECT_EQ(ResultOf(absl::StrCat(R"(
      agraph (float[3] x) => (float[3] y) {
        c = Constant <value = bool {)",
                                    is_true, R"(}> ()
        y = If (c) <
          then_branch = t () => (float[3] a) { a = Neg(x) },
          else_branch = e () => (float[3] a) { b = Abs(x)  a = Neg(b) }
        >
      }
    )")),
              is_true ? "f32[3] 1 -0 -2" : "f32[3] -1 -0 -2");
  }
}

// As torch.onnx writes squeeze: depending on an extent of 1.
TEST(Branches, AShapePicksOne) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[N] y) {
      s = Shape(x)
      three = Constant <value = int64[1] {3}> ()
      e = Equal(s, three)
      c = Squeeze(e)
      y = If (c) <
        then_branch = t () => (float[N] a) { a = Concat <axis = 0> (x, x) },
        else_branch = e () => (float[N] a) { a = Neg(x) }
      >
      z = Neg(y)
    }
  )"),
            "f32[6] -1 0 2 -1 0 2");
}

TEST(Branches, NestedOnesSeeTheNamesAround) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) {
      c = Constant <value = bool {1}> ()
      y = If (c) <
        then_branch = t () => (float[3] a) {
          p = Neg(x)
          a = If (c) <
            then_branch = t2 () => (float[3] b) { b = Add(p, p) },
            else_branch = e2 () => (float[3] b) { b = Foo(p) }
          >
        },
        else_branch = e () => (float[3] a) { a = Foo(x) }
      >
    }
  )"),
            "f32[3] 2 -0 -4");
}

TEST(Branches, ABoundInputPicksOne) {
  const std::string graph = R"(
    agraph (float[3] x, bool c) => (float[3] y) {
      y = If (c) <
        then_branch = t () => (float[3] a) { a = Neg(x) },
        else_branch = e () => (float[3] a) { b = Abs(x)  a = Loop(b, c) }
      >
    }
  )";
  ImportOptions options;
  options.values["c"] = {Number(int64_t{1})};
  EXPECT_EQ(ResultOf(graph, options), "f32[3] 1 -0 -2");
  EXPECT_EQ(ResultOf(graph),
            "If (giving y): found the condition that depends on data (input "
            "c); expected the condition that is known at compile time; give "
            "the value of input c; its then_branch has 1 node: Neg 1; its "
            "else_branch has 2 nodes: Abs 1, Loop 1");
}

TEST(Branches, MissingOpsOfTheTakenBranchAreReported) {
  const auto fault = [](const char* branch) {
    return ResultOf(absl::StrCat(R"(
      agraph (float[3] x) => (float[3] y) {
        c = Constant <value = bool {1}> ()
        y = If (c) <
          then_branch = t () => (float[3] a) { )",
                                 branch, R"( },
          else_branch = e () => (float[3] a) { a = Neg(x) }
        >
      }
    )"));
  };
  EXPECT_EQ(fault("a = Foo(x)"),
            "found 1 node whose op is not supported:\n  Foo (node a)");
  EXPECT_EQ(fault("b = Neg(x)"),
            "If (giving y): found a body that gives no a, its output 0; "
            "expected a node for each output");
  EXPECT_EQ(fault("a = Neg(q)"),
            "Neg (giving y/a): found input q, which no earlier node gives; "
            "expected nodes in topological order without a cycle");
}

TEST(Branches, ALoopReportsTheOpsInside) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) {
      n = Constant <value = int64 {2}> ()
      y = Loop (n, , x) <
        body = b (int64 i, bool c, float[3] v) => (bool d, float[3] w) {
          d = Identity(c)
          w = Neg(v)
        }
      >
    }
  )"),
            "found 1 node whose op is not supported:\n"
            "  Loop (node y); its body has 2 nodes: Identity 1, Neg 1");
}

}  // namespace
}  // namespace partita
