// Attention as exporters write it, sharded by heads and by samples: it is
// recognised, and has the values of one device.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
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

constexpr int64_t kRoom = int64_t{1} << 30;

// A block of six heads over rows of 48, and an additive mask of the samples.
constexpr char kBlock[] =
    R"(graph @f(%x: f32[6, 7, 48], %mask: f32[6, 1, 1, 7], %wq: f32[48, 48], %wk: f32[48, 48], %wv: f32[48, 48], %wo: f32[48, 48]) -> f32[6, 7, 48] {
  %c = constant f32[] 0.35355338
  %q0 = matmul %x, %wq : f32[6, 7, 48]
  %q1 = reshape %q0 {shape = [6, 7, 6, 8]} : f32[6, 7, 6, 8]
  %q = transpose %q1 {perm = [0, 2, 1, 3]} : f32[6, 6, 7, 8]
  %k0 = matmul %x, %wk : f32[6, 7, 48]
  %k1 = reshape %k0 {shape = [6, 7, 6, 8]} : f32[6, 7, 6, 8]
  %k = transpose %k1 {perm = [0, 2, 3, 1]} : f32[6, 6, 8, 7]
  %v0 = matmul %x, %wv : f32[6, 7, 48]
  %v1 = reshape %v0 {shape = [6, 7, 6, 8]} : f32[6, 7, 6, 8]
  %v = transpose %v1 {perm = [0, 2, 1, 3]} : f32[6, 6, 7, 8]
  %s = matmul %q, %k : f32[6, 6, 7, 7] SCOPE
  %d = mul %s, %c : f32[6, 6, 7, 7] SCOPE
  %m = add %d, %mask : f32[6, 6, 7, 7] SCOPE
  %p = softmax %m {axis = 3} : f32[6, 6, 7, 7] SCOPE
  %y0 = matmul %p, %v : f32[6, 6, 7, 8] SCOPE
  %y1 = transpose %y0 {perm = [0, 2, 1, 3]} : f32[6, 7, 6, 8]
  %y2 = reshape %y1 {shape = [6, 7, 48]} : f32[6, 7, 48]
  %y = matmul %y2, %wo : f32[6, 7, 48]
  return %y
}
)";

// The same as one op, with three heads of queries for each head of keys.
constexpr char kGrouped[] =
    R"(graph @f(%q: f32[4, 7, 6, 8], %k: f32[4, 9, 2, 8], %v: f32[4, 9, 2, 8], %mask: f32[6, 7, 9]) -> f32[4, 7, 6, 8] {
  %y = attention %q, %k, %v, %mask {causal = true, past = 2, positions_first = true, scale = 0.35, softcap = 2} : f32[4, 7, 6, 8] SCOPE
  return %y
}
)";

Module Parsed(const char* text) {
  return *ParseModule(absl::StrReplaceAll(text, {{"SCOPE", "scope \"heads\""}}),
                      "block.graph", OpSet::BuiltIn());
}

std::vector<std::string> Cpus(int devices) {
  std::vector<std::string> names;
  for (int d = 0; d < devices; ++d) names.push_back(absl::StrCat("cpu:", d));
  return names;
}

// Expects one attention node, sharded, with the values of eval.
void ExpectSharded(const char* text, const CompileOptions& options,
                   int devices) {
  const Module module = Parsed(text);
  const std::vector<HostTensor> inputs = RandomInputs(module.main(), 1);
  const auto expected = Evaluate(module.main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<Compiled> compiled =
      Compile(module.Clone(), EqualCpus(devices, kRoom), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::vector<OpView> attentions =
      compiled->plan.module.main().ops(kAttention);
  ASSERT_EQ(attentions.size(), 1u);
  EXPECT_TRUE(IsSharded(attentions[0]));
  EXPECT_EQ(attentions[0].node().placement.devices.size(),
            static_cast<size_t>(devices));
  const auto run = RunVirtually(std::move(compiled->plan), inputs);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(SameBits(run->outputs, run->reference), absl::OkStatus());
  EXPECT_EQ(Close(run->outputs, *expected, 1e-4, 1e-5), absl::OkStatus());
}

TEST(ShardedAttention, ByHeads) {
  for (int devices : {2, 3}) {
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = {{"heads", Cpus(devices), 1}};
    ExpectSharded(kBlock, options, devices);
  }
}

// Two heads of keys, each with three heads of queries.
TEST(ShardedAttention, ByHeadsThatShareKeys) {
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"heads", Cpus(2), 2}};
  ExpectSharded(kGrouped, options, 2);
}

TEST(ShardedAttention, BySamples) {
  for (int devices : {2, 3}) {
    CompileOptions options;
    options.strategy = "data";
    ExpectSharded(kBlock, options, devices);
  }
  CompileOptions options;
  options.strategy = "pinned";
  options.pins = {{"heads", Cpus(3), 0}};
  ExpectSharded(kGrouped, options, 3);
}

}  // namespace
}  // namespace partita
