// Models of 16-bit floats run on fast kernels, on the CPU and where it emulates
// a GPU, and have the values of eval.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/end_to_end/bound_kernels.h"
#include "tests/end_to_end/virtual_steps.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

struct Model {
  const char* name;
  const char* text;  // T is the type
};
std::ostream& operator<<(std::ostream& out, const Model& model) {
  return out << model.name;
}

// Convolutions with epilogues, pools, a resize, a concat.
constexpr char kImages[] = R"(
graph @main(%x: T[2, 8, 12, 12], %w: T[16, 8, 3, 3], %s: T[16, 1, 1], %v: T[16, 16, 1, 1]) -> (T[2, 32], T[2, 32, 11, 6]) {
  %c = conv %x, %w {pads_after = [1, 1], pads_before = [1, 1]} : T[2, 16, 12, 12]
  %n = mul %c, %s : T[2, 16, 12, 12]
  %a = relu %n : T[2, 16, 12, 12]
  %d = conv %a, %v : T[2, 16, 12, 12]
  %r = add %d, %a : T[2, 16, 12, 12]
  %g = sigmoid %r : T[2, 16, 12, 12]
  %h = mul %g, %r : T[2, 16, 12, 12]
  %p = max_pool %h {kernel = [2, 2], strides = [2, 2]} : T[2, 16, 6, 6]
  %q = avg_pool %h {kernel = [2, 2], strides = [2, 2]} : T[2, 16, 6, 6]
  %u = concat %p, %q {axis = 1} : T[2, 32, 6, 6]
  %m = reduce_mean %u {axes = [2, 3], keep_dims = false} : T[2, 32]
  %z = resize %u {mode = "linear", sizes = [2, 32, 11, 6]} : T[2, 32, 11, 6]
  return %m, %z
})";

// An encoder layer: embedding, norm, attention as single ops, gelu.
constexpr char kTokens[] = R"(
graph @main(%i: i64[2, 5], %e: T[50, 16], %s: T[16], %b: T[16], %w: T[16, 48], %o: T[16, 16], %l: bool[5, 5]) -> T[2, 5, 16] {
  %x = gather %e, %i : T[2, 5, 16]
  %n = layer_norm %x, %s, %b : T[2, 5, 16]
  %p = matmul %n, %w : T[2, 5, 48]
  %q, %k, %v = split %p {axis = -1, sizes = [16, 16, 16]} : T[2, 5, 16], T[2, 5, 16], T[2, 5, 16]
  %t = matmul %q, %k {transpose_b = true} : T[2, 5, 5]
  %lowest = fill {dtype = T, shape = [], value = -60000.0} : T[]
  %masked = where %l, %t, %lowest : T[2, 5, 5]
  %y = softmax %masked : T[2, 5, 5]
  %c = matmul %y, %v : T[2, 5, 16]
  %h = matmul %c, %o : T[2, 5, 16]
  %r = add %h, %x : T[2, 5, 16]
  %z = gelu %r : T[2, 5, 16]
  return %z
})";

// A sound detector: mirrored signal, frames, recurrence, logarithms.
constexpr char kSounds[] = R"(
graph @main(%x: T[64, 40], %f: T[8, 1, 6], %w: T[8, 64], %r: T[1, 16, 64], %h: T[1, 64, 16], %c: T[1, 64, 16]) -> (T[64], T[64, 16]) {
  %p = pad %x {after = [0, 3], before = [0, 3], mode = "reflect"} : T[64, 46]
  %u = reshape %p {shape = [64, 1, 46]} : T[64, 1, 46]
  %a = conv %u, %f {strides = [4]} : T[64, 8, 11]
  %sq = mul %a, %a : T[64, 8, 11]
  %one = fill {dtype = T, shape = [], value = 1.0} : T[]
  %sh = add %sq, %one : T[64, 8, 11]
  %lg = log %sh : T[64, 8, 11]
  %t = transpose %lg {perm = [2, 0, 1]} : T[11, 64, 8]
  %g = matmul %t, %w : T[11, 64, 64]
  %d = reshape %g {shape = [11, 64, 1, 64]} : T[11, 64, 1, 64]
  %y, %states, %cells = lstm %d, %r, %h, %c : T[11, 64, 1, 16], T[1, 64, 16], T[1, 64, 16]
  %last = slice %y {sizes = [1, 64, 1, 16], starts = [10, 0, 0, 0]} : T[1, 64, 1, 16]
  %z = reshape %last {shape = [64, 16]} : T[64, 16]
  %m = reduce_max %z {axes = [1], keep_dims = false} : T[64]
  return %m, %z
})";

constexpr Model kModels[] = {
    {"Images", kImages}, {"Tokens", kTokens}, {"Sounds", kSounds}};
constexpr const char* kHalves[] = {"f16", "bf16"};

using Case = std::tuple<Model, const char*>;
class HalfModel : public testing::TestWithParam<Case> {
 protected:
  Module Parsed() const {
    const auto& [model, half] = GetParam();
    auto module =
        ParseModule(absl::StrReplaceAll(
                        model.text, {{"T[", absl::StrCat(half, "[")},
                                     {"= T,", absl::StrCat("= ", half, ",")}}),
                    "f", OpSet::BuiltIn());
    EXPECT_TRUE(module.ok()) << module.status();
    return *std::move(module);
  }
  bool IsBf16() const { return std::get<1>(GetParam()) == kHalves[1]; }
};

// One or two units in the last place: each op rounds.
void ExpectNumbersOfEval(const Module& module, Plan plan, bool is_bf16) {
  const auto inputs = RandomInputs(module.main(), 3);
  const auto run = RunVirtually(std::move(plan), inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  const auto expected = Evaluate(module.main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const double unit = is_bf16 ? 0x1p-7 : 0x1p-10;
  EXPECT_EQ(Close(run->outputs, *expected, 4 * unit, 4 * unit),
            absl::OkStatus());
}

TEST_P(HalfModel, RunsByFastKernelsOnTheCpu) {
  const Module module = Parsed();
  auto compiled = Compile(module.Clone(), EqualCpus(1, int64_t{1} << 36), {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_EQ(absl::StrJoin(compiled->report.fallbacks.nodes, "\n"), "");
  ExpectNumbersOfEval(module, std::move(compiled->plan), IsBf16());
}

TEST_P(HalfModel, RunsByFastKernelsWhereAGpuIsEmulated) {
  const Module module = Parsed();
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "gpu:0";
  auto compiled = Compile(module.Clone(), CpuAndGpus(1, int64_t{1} << 36),
                          std::move(options));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto bound = KernelsOnVirtualDevices(compiled->plan);
  ASSERT_TRUE(bound.ok()) << bound.status();
  for (const BoundNode& node : *bound) {
    EXPECT_FALSE(IsSlow(node) && node.elements > 1)
        << node.node << " by " << node.kernel;
  }
  ExpectNumbersOfEval(module, std::move(compiled->plan), IsBf16());
}

INSTANTIATE_TEST_SUITE_P(All, HalfModel,
                         testing::Combine(testing::ValuesIn(kModels),
                                          testing::ValuesIn(kHalves)),
                         [](const testing::TestParamInfo<Case>& info) {
                           return absl::StrCat(std::get<0>(info.param).name,
                                               "Of", std::get<1>(info.param));
                         });

}  // namespace
}  // namespace partita
