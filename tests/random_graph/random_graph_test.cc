// Random graphs are valid, varied, deterministic for a seed, and survive the
// round trip through text.
// SPDX-License-Identifier: Apache-2.0

#include "tests/random_graph/random_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "graph/evaluate.h"
#include "graph/fingerprint.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"

namespace partita {
namespace {

constexpr int kSeeds = 300;

RandomGraphOptions OptionsOf(uint64_t seed) {
  return {.steps = static_cast<int>(seed % 30), .discrete = seed % 2 == 1};
}

TEST(RandomGraph, IsValid) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomGraph(seed, OptionsOf(seed));
    const absl::Status status = VerifyModule(module);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(RandomGraph, TextReadsBackAsTheSameGraph) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomGraph(seed, OptionsOf(seed));
    const std::string text = PrintModule(module);
    absl::StatusOr<Module> again = ParseModule(text, "t", OpSet::BuiltIn());
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.status();
    ASSERT_EQ(PrintModule(*again), text) << "seed " << seed;
    ASSERT_EQ(FingerprintOf(*again), FingerprintOf(module)) << "seed " << seed;
  }
}

TEST(RandomGraph, ACopyHasTheSameText) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomGraph(seed, OptionsOf(seed));
    const auto copy = module.main().Clone(&module.literals());
    ASSERT_EQ(PrintGraph(*copy), PrintGraph(module.main())) << "seed " << seed;
  }
}

TEST(RandomGraph, EvaluatesToNumbersOfModestSize) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomGraph(seed, OptionsOf(seed));
    const Graph& graph = module.main();
    auto outputs = Evaluate(graph, RandomInputs(graph, seed));
    ASSERT_TRUE(outputs.ok()) << "seed " << seed << ": " << outputs.status();
    for (const HostTensor& output : *outputs) {
      for (int64_t i = 0; i < output.type().num_elements(); ++i) {
        const double value = GetAsDouble(output, i);
        // A window of padding alone gives -inf in a max pool.
        ASSERT_TRUE(std::fabs(value) < 1e6 || value == -INFINITY)
            << "seed " << seed << ": " << value << "\n"
            << PrintGraph(graph);
      }
    }
  }
}

TEST(RandomGraph, DependsOnTheSeedAlone) {
  EXPECT_EQ(PrintModule(RandomGraph(5)), PrintModule(RandomGraph(5)));
  EXPECT_NE(PrintModule(RandomGraph(5)), PrintModule(RandomGraph(6)));
}

TEST(RandomGraph, UsesManyOps) {
  std::map<absl::string_view, int> counts;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = RandomGraph(seed, OptionsOf(seed));
    for (const OpView& op : module.main().ops()) ++counts[op.op_name()];
  }
  for (absl::string_view op :
       {"add",      "mul",       "relu",       "matmul",      "conv",
        "max_pool", "avg_pool",  "batch_norm", "reduce_mean", "softmax",
        "reshape",  "transpose", "slice",      "concat",      "split",
        "pad",      "gather",    "expand",     "tile",        "constant",
        "less",     "where",     "cast",       "erf"}) {
    EXPECT_GE(counts[op], 5) << op;
  }
}

}  // namespace
}  // namespace partita
