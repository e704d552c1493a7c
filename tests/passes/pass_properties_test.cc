// Properties of every pass, on the inputs of the golden files (on the command
// line) and on random graphs. A pass of the table needs no line here.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/fingerprint.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "passes/pipeline.h"
#include "tests/golden/golden_file.h"
#include "tests/passes/drawn_spellings.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr uint64_t kSeeds = 200;
constexpr int kSpellings = 100;  // of each kind

std::vector<std::string>& GoldenPaths() {
  static auto& paths = *new std::vector<std::string>;
  return paths;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// None, or one of a few placements that the node's results allow.
Placement RandomPlacement(const OpView& op, std::mt19937_64& bits) {
  Placement placement;
  if (bits() % 3 == 0) return placement;
  placement.devices = {absl::StrCat("gpu:", bits() % 2)};
  if (bits() % 4 != 0) return placement;
  placement.devices = {"gpu:0", "gpu:1"};
  for (int i = 0; i < op.num_results() && bits() % 2 == 0; ++i) {
    if (op.result_type(i).rank() == 0) continue;
    placement.results.assign(op.num_results(), Sharding());
    placement.results[i].kind = Sharding::Kind::kSplit;
  }
  return placement;
}

void PinAtRandom(Graph& graph, uint64_t seed) {
  std::mt19937_64 bits(seed);
  for (const OpView& op : graph.ops()) {
    graph.node(op.id()).placement = RandomPlacement(op, bits);
  }
}

void AddSpellings(std::vector<Module>& modules) {
  for (int seed = 0; seed < kSpellings; ++seed) {
    modules.push_back(DrawnAttention(seed));
    modules.push_back(DrawnRmsNorm(seed));
  }
}

// The example graphs of all golden files that parse, then random ones, every
// third of them with pins, and attention and norms as exporters write them.
std::vector<Module> Corpus() {
  std::vector<Module> corpus;
  for (const std::string& path : GoldenPaths()) {
    absl::StatusOr<GoldenFile> file = ParseGolden(ReadFile(path));
    EXPECT_TRUE(file.ok()) << path << ": " << file.status();
    if (!file.ok()) continue;
    for (const GoldenExample& example : file->examples) {
      absl::StatusOr<Module> module =
          ParseModule(example.input, path, OpSet::BuiltIn());
      if (module.ok()) corpus.push_back(*std::move(module));
    }
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    corpus.push_back(RandomGraph(
        seed,
        {.steps = 4 + static_cast<int>(seed % 24), .discrete = seed % 4 == 3}));
    if (seed % 3 == 2) PinAtRandom(corpus.back().main(), seed);
  }
  AddSpellings(corpus);
  return corpus;
}

// The table's passes, each once, and the whole table as one more.
struct NamedPass {
  std::string name;
  absl::Span<const Pass> passes;
};
std::vector<NamedPass> AllPasses() {
  std::vector<NamedPass> all;
  for (absl::Span<const Pass> table : {SourcePasses(), MicroBatchPasses()}) {
    for (const Pass& pass : table) {
      const auto same = [&](const NamedPass& other) {
        return other.name == pass.name;
      };
      if (std::none_of(all.begin(), all.end(), same)) {
        all.push_back({pass.name, absl::MakeSpan(&pass, 1)});
      }
    }
  }
  all.push_back({"pipeline", SourcePasses()});
  return all;
}

absl::Status Apply(const NamedPass& pass, Graph& graph) {
  return RunPipeline(pass.passes, {.verify = true}, graph);
}

bool HasAllBytes(const Module& module) {
  for (int i = 0; i < module.literals().size(); ++i) {
    if (!module.literals().has_bytes(LiteralId(i))) return false;
  }
  return module.variables().empty();
}

// Folding changes the order of rounding: the tolerance is that of a chain of
// f32 operations on values of this size.
void ExpectClose(const HostTensor& before, const HostTensor& after) {
  ASSERT_EQ(before.type().ToString(), after.type().ToString());
  double largest = 1;
  for (int64_t i = 0; i < before.type().num_elements(); ++i) {
    const double value = std::fabs(GetAsDouble(before, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (int64_t i = 0; i < before.type().num_elements(); ++i) {
    const double a = GetAsDouble(before, i);
    const double b = GetAsDouble(after, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::fabs(a - b), 2e-5 * largest) << "element " << i;
  }
}

class PassProperties : public testing::TestWithParam<int> {
 protected:
  NamedPass pass() const { return AllPasses()[GetParam()]; }
};

TEST_P(PassProperties, TheResultIsSoundAndComputesTheSame) {
  for (const Module& module : Corpus()) {
    for (const auto& function : module.functions()) {
      const std::string text = PrintGraph(*function);
      SCOPED_TRACE(text);
      const auto changed = function->Clone(&module.literals());
      const absl::Status status = Apply(pass(), *changed);
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(Verify(*changed).ok()) << Verify(*changed);
      if (!HasAllBytes(module)) continue;
      const std::vector<HostTensor> inputs = RandomInputs(*function, 1);
      auto before = Evaluate(*function, inputs);
      auto after = Evaluate(*changed, inputs);
      ASSERT_TRUE(before.ok()) << before.status();
      ASSERT_TRUE(after.ok()) << after.status() << PrintGraph(*changed);
      ASSERT_EQ(before->size(), after->size());
      for (size_t i = 0; i < before->size(); ++i) {
        ExpectClose((*before)[i], (*after)[i]);
        if (HasFatalFailure()) {
          FAIL() << "output " << i << " of:\n" << PrintGraph(*changed);
        }
      }
    }
  }
}

// Otherwise the other tests would be vacuous.
TEST_P(PassProperties, ItHasSomethingToDoInTheseGraphs) {
  int changes = 0;
  for (const Module& module : Corpus()) {
    for (const auto& function : module.functions()) {
      const auto changed = function->Clone(&module.literals());
      ASSERT_TRUE(Apply(pass(), *changed).ok());
      changes += FingerprintOf(*changed) != FingerprintOf(*function);
    }
  }
  EXPECT_GE(changes, 3);
}

// Except for the whole pipeline, which makes constant masks after it folds
// constants.
TEST_P(PassProperties, RunningTwiceEqualsRunningOnce) {
  std::vector<Module> corpus = Corpus();
  if (pass().name == "pipeline") {
    corpus.erase(corpus.end() - 2 * kSpellings, corpus.end());
  }
  for (const Module& module : corpus) {
    for (const auto& function : module.functions()) {
      SCOPED_TRACE(PrintGraph(*function));
      const auto changed = function->Clone(&module.literals());
      ASSERT_TRUE(Apply(pass(), *changed).ok());
      const std::string once = PrintGraph(*changed);
      ASSERT_TRUE(Apply(pass(), *changed).ok());
      ASSERT_EQ(PrintGraph(*changed), once);
    }
  }
}

TEST_P(PassProperties, TheSameTextGivesTheSameText) {
  for (const Module& module : Corpus()) {
    for (const auto& function : module.functions()) {
      SCOPED_TRACE(PrintGraph(*function));
      const auto one = function->Clone(&module.literals());
      const auto other = one->Clone(&module.literals());
      ASSERT_TRUE(Apply(pass(), *one).ok());
      ASSERT_TRUE(Apply(pass(), *other).ok());
      ASSERT_EQ(PrintGraph(*one), PrintGraph(*other));
    }
  }
}

TEST_P(PassProperties, TheSameTextHasTheSameFingerprint) {
  for (const Module& module : Corpus()) {
    for (const auto& function : module.functions()) {
      const auto changed = function->Clone(&module.literals());
      ASSERT_TRUE(Apply(pass(), *changed).ok());
      if (PrintGraph(*changed) != PrintGraph(*function)) continue;
      ASSERT_EQ(FingerprintOf(*changed), FingerprintOf(*function))
          << PrintGraph(*function);
    }
  }
}

// The pins of nodes by name, for nodes with unique names.
using Pins = absl::flat_hash_map<std::string, Placement>;

Pins NameAndPin(Graph& graph, uint64_t seed) {
  PinAtRandom(graph, seed);
  Pins pins;
  for (const OpView& op : graph.ops()) {
    for (int i = 0; i < op.num_results(); ++i) {
      const std::string name = absl::StrCat("r", pins.size());
      graph.value(op.result(i).id()).name = name;
      pins[name] = op.node().placement;
    }
  }
  return pins;
}

// A node that keeps its name is where it was pinned, and the nodes that it
// replaces had that pin or none.
void ExpectPinsHold(const Graph& graph, const Pins& pins) {
  for (const OpView& op : graph.ops()) {
    const Placement& here = op.node().placement;
    const auto agrees = [&](const OpView& part) {
      const auto pin = pins.find(part.result(0).name());
      return pin == pins.end() || !pin->second.placed() ||
             pin->second == here || part.is(kConstant);
    };
    EXPECT_TRUE(agrees(op)) << op.ToString();
    if (!op.is(kFused)) continue;
    for (const OpView& part : op.region(0).ops()) {
      EXPECT_TRUE(agrees(part)) << part.ToString() << " in " << op.ToString();
    }
  }
}

// Random graphs, none of them pinned.
std::vector<Module> Unpinned() {
  std::vector<Module> graphs;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    graphs.push_back(
        RandomGraph(seed, {.steps = 4 + static_cast<int>(seed % 24)}));
  }
  AddSpellings(graphs);
  return graphs;
}

TEST_P(PassProperties, NodesAreWhereTheyWerePinned) {
  int fused = 0;
  uint64_t seed = 0;
  for (Module& module : Unpinned()) {
    const Pins pins = NameAndPin(module.main(), seed++);
    SCOPED_TRACE(PrintGraph(module.main()));
    ASSERT_TRUE(Apply(pass(), module.main()).ok());
    ExpectPinsHold(module.main(), pins);
    if (HasFailure()) FAIL() << PrintGraph(module.main());
    fused += !module.main().ops(kFused).empty();
  }
  if (pass().name == "pipeline") {
    EXPECT_GT(fused, 10);
  }
}

// True for passes that replace nodes one by one, or remove them. All others
// merge nodes, and do not change graphs in which no two nodes may be merged.
bool KeepsNodesApart(const std::string& name) {
  for (const char* other :
       {"remove_dead", "fold_shapes", "fold_constants", "remove_identities",
        "decompose_batch_norm", "unfold_conv_transpose", "batch_rows_first",
        "pipeline"}) {
    if (name == other) return true;
  }
  return false;
}

std::vector<int> UnitingPasses() {
  std::vector<int> indices;
  for (size_t i = 0; i < AllPasses().size(); ++i) {
    if (!KeepsNodesApart(AllPasses()[i].name)) {
      indices.push_back(static_cast<int>(i));
    }
  }
  return indices;
}

class UnitingPass : public PassProperties {};

TEST_P(UnitingPass, NodesThatAreAllPinnedApartStayApart) {
  for (const Module& module : Corpus()) {
    for (const auto& function : module.functions()) {
      const auto pinned = function->Clone(&module.literals());
      int device = 0;
      for (const OpView& op : pinned->ops()) {
        Placement& placement = pinned->node(op.id()).placement;
        placement = {};
        placement.devices = {absl::StrCat("gpu:", device++)};
      }
      const std::string text = PrintGraph(*pinned);
      ASSERT_TRUE(Apply(pass(), *pinned).ok());
      ASSERT_EQ(PrintGraph(*pinned), text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, PassProperties,
                         testing::Range(0,
                                        static_cast<int>(AllPasses().size())),
                         [](const auto& info) {
                           return AllPasses()[info.param].name;
                         });
INSTANTIATE_TEST_SUITE_P(Passes, UnitingPass,
                         testing::ValuesIn(UnitingPasses()),
                         [](const auto& info) {
                           return AllPasses()[info.param].name;
                         });

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  partita::GoldenPaths().assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
