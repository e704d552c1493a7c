// Graphs with kernels are accepted, and every fault in them is refused.
// SPDX-License-Identifier: Apache-2.0

#include "tests/binding/bound_mutants.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "binding/verify_binding.h"
#include "graph/builder/examples/models.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "placement/machine/sample_machines.h"
#include "tests/binding/bound_graphs.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr int kMostSites = 25;  // of one kind in one graph
constexpr uint64_t kSeeds = 150;

// At most kMostSites sites, spread over all of them.
std::vector<int> SitesOf(const Graph& graph, const BoundMutation& mutation) {
  MutationSites all(-1);
  mutation.apply(*graph.Clone(&graph.literals()), all);
  std::vector<int> chosen;
  const int step = all.count() / kMostSites + 1;
  for (int site = 0; site < all.count(); site += step) chosen.push_back(site);
  return chosen;
}

// By kind of fault: how many of them were refused.
std::map<std::string, int> ExpectAllRefused(const BoundGraph& graph) {
  std::map<std::string, int> refused;
  for (const BoundMutation& mutation : BoundMutations()) {
    for (int site : SitesOf(*graph.bound, mutation)) {
      const std::unique_ptr<Graph> mutant =
          graph.bound->Clone(&graph.bound->literals());
      MutationSites sites(site);
      mutation.apply(*mutant, sites);
      // The choice of kernels is followed by this check already.
      if (!Verify(*mutant).ok()) continue;
      const absl::Status status = VerifyBinding(*graph.placed, *mutant);
      EXPECT_TRUE(
          absl::StartsWith(status.message(), "bug: choosing kernels for @"))
          << graph.name << ": " << mutation.name << " at site " << site << ": "
          << status << "\n"
          << PrintGraph(*graph.bound) << "\nbecame\n"
          << PrintGraph(*mutant);
      refused[mutation.name] += !status.ok();
    }
  }
  return refused;
}

struct Rewrites {
  int reorders = 0;
  int packed = 0;
  int inlined = 0;
  int tails = 0;
};

int FusedNodes(const Graph& graph) {
  return static_cast<int>(graph.ops(kFused).size());
}

void Count(const BoundGraph& graph, Rewrites& all) {
  all.reorders += static_cast<int>(graph.bound->ops(kReorder).size());
  for (const OpView& op : graph.bound->ops(kConstant)) {
    all.packed += !op.result_type(0).layout.is_row_major();
  }
  const int before = FusedNodes(*graph.placed);
  const int after = FusedNodes(*graph.bound);
  all.inlined += before > after;
  for (const OpView& op : graph.bound->ops(kFused)) {
    all.tails += absl::StartsWith(graph.name, "tail") &&
                 op.region(0).ops()[0].op().traits.elementwise;
  }
}

TEST(BoundMutants, EveryFaultInAModelIsRefused) {
  std::map<std::string, int> refused;
  Rewrites rewrites;
  for (const BoundGraph& graph : BoundModels()) {
    const absl::Status status = VerifyBinding(*graph.placed, *graph.bound);
    ASSERT_TRUE(status.ok()) << graph.name << ": " << status << "\n"
                             << PrintGraph(*graph.placed) << "\nto\n"
                             << PrintGraph(*graph.bound);
    Count(graph, rewrites);
    for (const auto& [name, count] : ExpectAllRefused(graph)) {
      refused[name] += count;
    }
  }
  for (const BoundMutation& mutation : BoundMutations()) {
    EXPECT_GT(refused[mutation.name], 0) << mutation.name;
    RecordProperty(mutation.name, refused[mutation.name]);
  }
  // Otherwise there was nothing to see through.
  EXPECT_GT(rewrites.reorders, 0);
  EXPECT_GT(rewrites.packed, 0);
  EXPECT_GT(rewrites.inlined, 0);
  EXPECT_GT(rewrites.tails, 0);
}

TEST(BoundMutants, ResNet50IsAccepted) {
  absl::StatusOr<Module> module = ResNet50({.image = 32});
  ASSERT_TRUE(module.ok()) << module.status();
  const auto graph =
      BindMain(*std::move(module),
               {"resnet50", EqualCpus(1, int64_t{1} << 30), "single"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = VerifyBinding(*graph->placed, *graph->bound);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(BoundMutants, RandomGraphsAreAcceptedAndTheirFaultsRefused) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomGraphOptions options{.steps = 4 + static_cast<int>(seed % 24),
                                     .discrete = seed % 4 == 3};
    const BindingCase binding{
        .name = absl::StrCat("seed ", seed),
        .machine = EqualCpus(1 + static_cast<int>(seed % 2), int64_t{1} << 30),
        .strategy = seed % 2 == 0 ? "single" : "list",
        .inlines_fused = seed % 3 == 0};
    const auto graph = BindMain(RandomGraph(seed, options), binding);
    ASSERT_TRUE(graph.ok()) << binding.name << ": " << graph.status();
    const absl::Status status = VerifyBinding(*graph->placed, *graph->bound);
    ASSERT_TRUE(status.ok()) << binding.name << ": " << status << "\n"
                             << PrintGraph(*graph->placed) << "\nto\n"
                             << PrintGraph(*graph->bound);
    if (seed % 3 == 0) ExpectAllRefused(*graph);
  }
}

}  // namespace
}  // namespace partita
