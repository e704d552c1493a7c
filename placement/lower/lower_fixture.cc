// Partitions, lowers and runs test graphs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lower_fixture.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "placement/lower/run_serially.h"
#include "placement/partition/partition.h"
#include "placement/partition/testing/verify_no_cross_device_edges.h"
#include "placement/partition/verify_split.h"

namespace partita {
namespace {

HostTensor InputOf(const TensorType& type, int seed) {
  HostTensor tensor(type);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    SetFromDouble(tensor, i, static_cast<double>((i * 7 + seed * 5) % 11) - 5);
  }
  return tensor;
}

bool SameBytes(const HostTensor& a, const HostTensor& b) {
  return a.type() == b.type() &&
         std::memcmp(a.bytes(), b.bytes(), a.type().num_bytes()) == 0;
}

// Places each `accumulate` on the devices of its operand.
void PlaceSums(Graph& graph) {
  for (const OpView& op : graph.ops(kAccumulate)) {
    const NodeId maker = graph.value(op.operand(0).id()).defining_node;
    if (!maker.valid()) continue;
    graph.node(op.id()).placement.devices = graph.node(maker).placement.devices;
  }
}

// Counts and finishes a module whose functions are all placed.
absl::StatusOr<Plan> Lower(Module module, const Machine& machine,
                           const LowerOptions& options) {
  const Lowering lowering(machine, options);
  std::vector<CountedFunction> functions;
  for (const auto& function : module.functions()) {
    PARTITA_ASSIGN_OR_RETURN(
        CountedFunction counted,
        lowering.CountLiveBytes(*function, static_cast<int>(functions.size())));
    functions.push_back(std::move(counted));
  }
  return lowering.Finish(std::move(module), std::move(functions));
}

}  // namespace

Machine LinkedMachine(int count, int64_t memory) {
  Machine machine;
  machine.name = "test";
  for (int i = 0; i < count; ++i) {
    MachineDevice device;
    device.traits.name = absl::StrCat("gpu:", i);
    device.memory = memory;
    for (int j = 0; j < i; ++j) {
      machine.links.push_back({.from = machine.devices[j].traits.name,
                               .to = device.traits.name,
                               .bandwidth = 1e10});
    }
    machine.devices.push_back(std::move(device));
  }
  return machine;
}

Module ModuleOf(const std::string& text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  if (!module.ok()) {
    std::fprintf(stderr, "%s\n", module.status().ToString().c_str());
    std::abort();
  }
  return *std::move(module);
}

void BindTestKernels(Graph& graph) {
  for (const OpView& op : graph.ops()) {
    if (op.is(kConstant) || op.is(kVariable) || op.is(kCopy)) continue;
    KernelBinding binding{.kernel = "test.eval",
                          .arithmetics = {{.source = "test"}}};
    if (op.is(kAccumulate)) binding.in_place.push_back({1, 0});
    // In these tests all fused nodes are elementwise.
    const bool elementwise = op.op().traits.elementwise || op.is(kFused);
    for (int r = 0; elementwise && r < op.num_results(); ++r) {
      for (int i = 0; i < op.num_operands(); ++i) {
        if (op.operand_type(i) != op.result_type(r)) continue;
        binding.in_place.push_back({i, r});
      }
    }
    if (!elementwise && op.op().moves == nullptr) {
      binding.workspace = 100 + op.result_type(0).num_bytes() / 2;
    }
    graph.node(op.id()).kernel = std::move(binding);
  }
}

absl::StatusOr<Plan> PlanOf(Module module, const Machine& machine,
                            LowerOptions options,
                            const MicroBatches& micro_batches) {
  for (const auto& function : module.functions()) {
    PARTITA_ASSIGN_OR_RETURN(
        MicroBatches split,
        DivideIntoMicroBatches(*function, micro_batches.count));
    split.schedule = micro_batches.schedule;
    options.micro_batches.push_back(std::move(split));
    PlaceSums(*function);
    const std::unique_ptr<Graph> before = function->Clone(&module.literals());
    std::vector<Placement> placements(function->node_id_bound());
    for (const OpView& op : function->ops()) {
      placements[op.id().index] = op.node().placement;
    }
    PARTITA_RETURN_IF_ERROR(Partition(*function, placements, machine));
    PARTITA_RETURN_IF_ERROR(VerifyNoCrossDeviceEdges(*function));
    PARTITA_RETURN_IF_ERROR(VerifySplit(*before, *function));
    BindTestKernels(*function);
  }
  return Lower(std::move(module), machine, options);
}

absl::Status RunsLikeEval(const Module& module, const Plan& plan) {
  SerialMachine machine(plan);
  std::map<std::string, HostTensor> state;
  for (const Variable& variable : module.variables()) {
    state[variable.name] = module.literals().tensor(variable.initial).Clone();
  }
  for (int step = 0; step < 2; ++step) {
    for (size_t f = 0; f < module.functions().size(); ++f) {
      const Graph& graph = *module.functions()[f];
      std::vector<HostTensor> inputs;
      for (ValueId input : graph.inputs()) {
        inputs.push_back(InputOf(graph.type(input), step + inputs.size()));
      }
      VariableValues variables;
      for (const auto& [name, value] : state) variables[name] = &value;
      PARTITA_ASSIGN_OR_RETURN(std::vector<HostTensor> expected,
                               Evaluate(graph, inputs, variables));
      PARTITA_ASSIGN_OR_RETURN(const std::vector<HostTensor> found,
                               machine.Step(static_cast<int>(f), inputs));
      for (size_t i = 0; i < found.size(); ++i) {
        if (SameBytes(found[i], expected[i])) continue;
        return absl::InternalError(absl::StrCat("step ", step, ": output ", i,
                                                " of @", graph.name(),
                                                " differs from eval"));
      }
      for (size_t i = 0; i < graph.updates().size(); ++i) {
        state[graph.updates()[i].variable] = expected[found.size() + i].Clone();
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
