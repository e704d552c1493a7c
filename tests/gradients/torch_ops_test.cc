// Compares gradients of graphs with those of PyTorch (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/gradient/gradient.h"
#include "graph/op_view.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

struct Case {
  std::string title;
  std::string graph;
  int64_t below = 0;                                       // for integer inputs
  std::vector<std::pair<std::string, Numbers>> gradients;  // by input
};

// Sections "=== title", the graph's text, then lines "--- ...".
std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  std::istringstream lines(ReadTable("torch_ops.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("=== ", 0) == 0) {
      cases.push_back({line.substr(4), "", 0, {}});
    } else if (line.rfind("--- indices below ", 0) == 0) {
      cases.back().below = std::stoll(line.substr(18));
    } else if (line.rfind("--- %", 0) == 0) {
      const size_t space = line.find(' ', 5);
      cases.back().gradients.push_back(
          {line.substr(5, space - 5), ParseNumbers(line.substr(space))});
    } else {
      cases.back().graph += line + "\n";
    }
  }
  return cases;
}

std::vector<HostTensor> InputsOf(const Graph& graph, int64_t below) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    inputs.push_back(type.dtype == DType::kI64
                         ? DrawnIndices(type.dims, below)
                         : Drawn(type.dims, static_cast<int>(i)));
  }
  return inputs;
}

ValueId InputNamed(const Graph& graph, const std::string& name) {
  for (ValueId input : graph.inputs()) {
    if (graph.value(input).name == name) return input;
  }
  return {};
}

void Check(const Case& recorded) {
  auto module = ParseModule(recorded.graph, recorded.title, OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  Graph& graph = module->main();
  const std::vector<HostTensor> inputs = InputsOf(graph, recorded.below);
  std::vector<ValueId> wanted;
  for (const auto& [name, numbers] : recorded.gradients) {
    wanted.push_back(InputNamed(graph, name));
    ASSERT_TRUE(wanted.back().valid()) << name;
  }
  const Loss loss = {graph.outputs()[0], {}};
  const auto gradients =
      AddGradients(graph, absl::MakeConstSpan(&loss, 1), wanted);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  graph.SetOutputs(*gradients);
  const auto values = Evaluate(graph, inputs);
  ASSERT_TRUE(values.ok()) << values.status();
  for (size_t i = 0; i < values->size(); ++i) {
    SCOPED_TRACE("%" + recorded.gradients[i].first);
    ExpectNear(ToNumbers((*values)[i]), recorded.gradients[i].second);
  }
}

TEST(TorchOps, GradientsAreThoseOfPyTorch) {
  for (const Case& recorded : ReadCases()) {
    SCOPED_TRACE(recorded.title);
    ASSERT_FALSE(recorded.gradients.empty());
    Check(recorded);
  }
}

std::set<const OpDef*> OpsOf(const Case& recorded) {
  auto module = ParseModule(recorded.graph, recorded.title, OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  std::set<const OpDef*> ops;
  if (!module.ok()) return ops;
  for (const OpView& op : module->main().ops()) ops.insert(&op.op());
  return ops;
}

// An op whose gradient is zero everywhere has nothing to compare.
TEST(TorchOps, EveryOpWithAGradientIsCompared) {
  std::set<const OpDef*> compared;
  for (const Case& recorded : ReadCases()) compared.merge(OpsOf(recorded));
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef* op = kOpTable[i];
    if (op->gradient == nullptr || op->gradient == ZeroGradient) continue;
    EXPECT_EQ(compared.count(op), 1u)
        << op->name << ": add a case to tests/gradients/torch_ops.py";
  }
}

}  // namespace
}  // namespace partita
