// Exports what the importer makes of Debian's ONNX test data, and models that
// were built, and reads them back: the same graphs, the same numbers, and no
// complaint of ONNX's own checker.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>
#include <set>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/onnx/testing/reimport.h"
#include "graph/ops/op_list.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "passes/remove_dead.h"
#include "tests/conformance/onnx_case.h"
#include "tests/conformance/onnx_checker.h"
#include "tools/partita/compare.h"

namespace partita {
namespace {

constexpr char kRoot[] = "/usr/share/libonnx-testdata/data";

// An older opset's; no newer one has these coordinates.
constexpr char kGone[] =
    "node/test_resize_downsample_sizes_nearest_tf_half_pixel_for_nn";

// Initializers have no order, so constants come in the order of their first
// use, before everything else.
void MoveConstantsUp(Graph& graph) {
  const std::vector<OpView> ops = graph.ops();
  std::vector<ValueId> read;
  for (const OpView& op : ops) {
    for (int i = 0; i < op.num_operands(); ++i) {
      read.push_back(op.operand(i).id());
    }
  }
  read.insert(read.end(), graph.outputs().begin(), graph.outputs().end());
  std::set<int> moved;
  const NodeId first = ops.empty() ? NodeId() : ops.front().id();
  std::vector<NodeId> constants;
  for (const ValueId value : read) {
    const NodeId node = graph.value(value).defining_node;
    if (node.valid() && graph.node(node).op == &kConstant &&
        moved.insert(node.index).second) {
      constants.push_back(node);
    }
  }
  NodeId before = first;
  for (auto it = constants.rbegin(); it != constants.rend(); ++it) {
    if (*it != before) graph.MoveBefore(*it, before);
    before = *it;
  }
}

// The text without what nodes may share after an import but not after an
// export: names of results, scopes and locations.
std::string NormalisedText(const Module& module) {
  const Module copy = module.Clone();
  Graph& graph = copy.main();
  EXPECT_TRUE(RemoveDead(graph).ok());
  MoveConstantsUp(graph);
  for (const NodeId id : graph.order()) {
    graph.node(id).scope.clear();
    graph.node(id).location.clear();
    for (const ValueId result : graph.node(id).results) {
      graph.value(result).name.clear();
    }
  }
  return PrintGraph(graph);
}

std::set<std::string> NamesOfNeeded(const Module& module) {
  const Module copy = module.Clone();
  EXPECT_TRUE(RemoveDead(copy.main()).ok());
  std::set<std::string> names;
  for (const OpView& op : copy.main().ops()) {
    for (int i = 0; i < op.num_results(); ++i) {
      if (!op.result(i).name().empty()) names.insert(op.result(i).name());
    }
  }
  return names;
}

void ExpectNamesKept(const Module& module, const Module& again) {
  const std::set<std::string> before = NamesOfNeeded(module);
  const std::set<std::string> after = NamesOfNeeded(again);
  std::vector<std::string> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(lost));
  EXPECT_EQ(lost, std::vector<std::string>());
}

void ExpectNoFault(const Module& module) {
  const absl::StatusOr<ExportedModel> exported =
      ExportOnnx(module, module.main().name());
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(OnnxFault(WriteFiles(*exported)), "");
}

void ExpectSameBits(const Module& module, const Module& again,
                    const std::vector<HostTensor>& inputs) {
  const auto expected = Evaluate(module.main(), inputs);
  const auto actual = Evaluate(again.main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(actual->size(), expected->size());
  for (size_t i = 0; i < actual->size(); ++i) {
    EXPECT_TRUE(Compare((*actual)[i], (*expected)[i], 0, 0).same_bits)
        << "output " << i;
  }
}

// ONNX's recurrences include the product of their inputs, its pools give no
// indices alone, and its indices count from the end.
bool HasNoForm(const OpView& op) {
  if (op.is(kGatherElements) || op.is(kScatterElements)) {
    return !op.attr_bool("from_end");
  }
  return op.is(kLstm) || op.is(kGru) || op.is(kRnn) || op.is(kMaxPoolIndices);
}

bool CannotBeWritten(const Module& module) {
  for (const OpView& op : module.main().ops()) {
    if (HasNoForm(op)) return true;
  }
  return false;
}

TEST(ExportConformance, EveryImportedCaseComesBackAsItWas) {
  int came_back = 0;
  for (const OnnxCase& c : FindOnnxCases(kRoot)) {
    if (KnownBadData(c.name) != nullptr || c.name == kGone) continue;
    const absl::StatusOr<LoadedCase> loaded = LoadOnnxCase(c);
    if (!loaded.ok()) continue;
    SCOPED_TRACE(c.name);
    const absl::StatusOr<Module> again = Reimported(loaded->module, "main");
    if (CannotBeWritten(loaded->module)) {
      EXPECT_EQ(again.status().code(), absl::StatusCode::kUnimplemented)
          << again.status();
      continue;
    }
    EXPECT_TRUE(again.ok()) << again.status();
    if (!again.ok()) continue;
    EXPECT_EQ(NormalisedText(*again), NormalisedText(loaded->module));
    ExpectNamesKept(loaded->module, *again);
    ExpectSameBits(loaded->module, *again, loaded->inputs);
    ExpectNoFault(loaded->module);
    ++came_back;
  }
  std::cout << "export: " << came_back << " cases come back\n";
  EXPECT_GE(came_back, 726);  // all other cases that the importer passes
}

// ONNX keeps float attributes in 32 bits, so only attributes from there come
// back unchanged.
void ExpectComesBack(const Module& module, const std::string& function) {
  const Graph& graph = *module.FindFunction(function);
  const absl::StatusOr<Module> once = Reimported(module, function);
  ASSERT_TRUE(once.ok()) << once.status();
  const absl::StatusOr<Module> twice = Reimported(*once, "main");
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(NormalisedText(*twice), NormalisedText(*once));
  ExpectNoFault(*once);

  std::vector<HostTensor> inputs;
  for (const ValueId input : graph.inputs()) {
    inputs.push_back(RandomTensor(graph.type(input), 1, 0, 1));
  }
  VariableValues variables;
  for (const Variable& variable : module.variables()) {
    variables[variable.name] = &module.literals().tensor(variable.initial);
  }
  const auto expected = Evaluate(graph, inputs, variables);
  const auto actual = Evaluate(once->main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(actual.ok()) << actual.status();
  for (size_t i = 0; i < expected->size(); ++i) {
    EXPECT_TRUE(Compare((*actual)[i], (*expected)[i], 1e-6, 1e-7).within);
  }
}

TEST(ExportConformance, ResNet50ComesBack) {
  ExpectComesBack(*ResNet50({.image = 32}), "resnet50");
}

TEST(ExportConformance, ANetworkWithAResidualComesBack) {
  ExpectComesBack(*SmallConvNet(), "small_conv_net");
}

TEST(ExportConformance, TheEvaluationOfATrainingComesBack) {
  ExpectComesBack(*MnistTraining({.batch = 3}), "evaluate");
}

}  // namespace
}  // namespace partita
