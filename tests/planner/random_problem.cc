// Draws graphs and machines from a seed.
// SPDX-License-Identifier: Apache-2.0

#include "tests/planner/random_problem.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "placement/cost/portable_exp.h"

namespace partita {
namespace {

// Gives every constant bytes, so that it can be sharded.
void LoadConstants(uint64_t seed, Module& module) {
  Graph& graph = module.main();
  for (const OpView& constant : graph.ops(kConstant)) {
    graph.node(constant.id())
        .attributes.Set("value", module.literals().Add(RandomTensor(
                                     constant.result_type(0), ++seed, -1, 1)));
  }
}

class Sketch {
 public:
  Sketch(uint64_t seed, const ProblemOptions& options)
      : bits_(seed), options_(options) {}

  PlacementProblem Run() {
    const std::string text = GraphText();
    PlacementProblem problem{*ParseModule(text, "random", OpSet::BuiltIn()),
                             std::move(nodes_), MakeMachine()};
    LoadConstants(bits_(), problem.module);
    return problem;
  }

 private:
  struct DrawnValue {
    std::string name;
    int columns = 0;
    bool is_read = false;
  };

  int Below(int limit) {
    return static_cast<int>(bits_() % static_cast<uint64_t>(limit));
  }
  double Between(double low, double high) {
    return low + (high - low) * (bits_() >> 11) * 0x1p-53;
  }
  // As likely in each decade.
  double Scale(double low, double high) {
    return PortableExp(Between(PortableLog(low), PortableLog(high)));
  }

  std::string TypeOf(int columns) const {
    return absl::StrCat("f32[", rows_, ", ", columns, "]");
  }

  // The text of one module, whose values are v0, v1, ...
  std::string GraphText() {
    rows_ = 32 << Below(4);
    std::string inputs;
    const int num_inputs = 2 + Below(2);
    for (int i = 0; i < num_inputs; ++i) {
      values_.push_back({absl::StrCat("%x", i), 64 * (1 + Below(8)), true});
      absl::StrAppend(&inputs, i == 0 ? "" : ", ", values_.back().name, ": ",
                      TypeOf(values_.back().columns));
    }
    const int spread = options_.most_nodes - options_.least_nodes + 1;
    const int num_nodes = options_.least_nodes + Below(spread);
    std::string body;
    for (int i = 0; i < num_nodes; ++i) AddNode(body);
    std::string outputs, types;
    for (const DrawnValue& value : values_) {
      if (value.is_read) continue;
      absl::StrAppend(&outputs, outputs.empty() ? "" : ", ", value.name);
      absl::StrAppend(&types, types.empty() ? "" : ", ", TypeOf(value.columns));
    }
    return absl::StrCat("graph @g(", inputs, ") -> (", types, ") {\n", body,
                        "  return ", outputs, "\n}\n");
  }

  void AddNode(std::string& body) {
    // Values that nobody reads yet are more likely, so that graphs are deep.
    int operand = Below(static_cast<int>(values_.size()));
    if (Below(2) == 0) operand = static_cast<int>(values_.size()) - 1;
    values_[operand].is_read = true;
    const std::string read = values_[operand].name;
    const int columns = values_[operand].columns;
    const std::string name = absl::StrCat("v", nodes_.size());
    int made = columns;
    switch (Below(4)) {
      case 0:
        absl::StrAppend(&body, "  %", name, " = softmax ", read,
                        " {axis = 1} : ", TypeOf(columns), "\n");
        break;
      case 1:
        absl::StrAppend(&body, "  %", name, " = relu ", read, " : ",
                        TypeOf(columns), "\n");
        break;
      default:
        made = 64 * (1 + Below(12));
        AddMatMul(body, name, read, columns, made);
    }
    values_.push_back({absl::StrCat("%", name), made, false});
    nodes_.push_back(name);
  }

  // The weight has any hash: LoadConstants replaces it.
  void AddMatMul(std::string& body, const std::string& name,
                 const std::string& read, int inner, int columns) {
    const std::string weight = absl::StrCat("%w", nodes_.size());
    absl::StrAppend(&body, "  ", weight, " = constant f32[", inner, ", ",
                    columns, "] #", absl::Hex(bits_(), absl::kZeroPad16),
                    absl::Hex(bits_(), absl::kZeroPad16), "\n");
    absl::StrAppend(&body, "  %", name, " = matmul ", read, ", ", weight, " : ",
                    TypeOf(columns), "\n");
  }

  MachineDevice Device(const std::string& name, DeviceKind kind) {
    const bool is_gpu = kind == DeviceKind::kCuda;
    MachineDevice device;
    device.traits.name = name;
    device.traits.kind = kind;
    device.traits.isa = is_gpu ? "sm_90" : "avx2";
    device.traits.peak_flops[static_cast<int>(DType::kF32)] =
        is_gpu ? Scale(3e12, 3e13) : Scale(5e10, 3e11);
    device.traits.memory_bandwidth =
        is_gpu ? Scale(1e11, 1e12) : Scale(5e9, 5e10);
    device.traits.launch_seconds = Scale(1e-6, 5e-6);
    device.memory = int64_t{64} << 30;
    return device;
  }

  // The same except for its name and, if unequal, its speed.
  MachineDevice Twin(const MachineDevice& device, const std::string& name,
                     double slowdown) const {
    MachineDevice twin = device;
    twin.traits.name = name;
    for (double& flops : twin.traits.peak_flops) flops /= slowdown;
    twin.traits.memory_bandwidth /= slowdown;
    return twin;
  }

  Machine MakeMachine() {
    Machine machine;
    machine.name = "random";
    const bool has_gpus = options_.shape == MachineShape::kGpus ||
                          options_.shape == MachineShape::kCpuAndGpus;
    if (options_.shape != MachineShape::kGpus) {
      machine.devices.push_back(Device("cpu:0", DeviceKind::kCpu));
    }
    if (has_gpus) {
      machine.devices.push_back(Device("gpu:0", DeviceKind::kCuda));
      machine.devices.push_back(Twin(machine.devices.back(), "gpu:1", 1));
    } else {
      const bool is_equal = options_.shape == MachineShape::kEqualCpus;
      machine.devices.push_back(Twin(machine.devices.back(), "cpu:1",
                                     is_equal ? 1 : Between(1.5, 3)));
    }
    for (size_t i = 0; i < machine.devices.size(); ++i) {
      for (size_t j = i + 1; j < machine.devices.size(); ++j) {
        machine.links.push_back({.from = machine.devices[i].traits.name,
                                 .to = machine.devices[j].traits.name,
                                 .bandwidth = Scale(1e9, 1e11),
                                 .latency = Scale(1e-6, 1e-5)});
      }
    }
    return machine;
  }

  std::mt19937_64 bits_;
  const ProblemOptions options_;
  int rows_ = 0;
  std::vector<DrawnValue> values_;
  std::vector<std::string> nodes_;
};

}  // namespace

std::string MachineShapeName(MachineShape shape) {
  switch (shape) {
    case MachineShape::kEqualCpus:
      return "two equal CPUs";
    case MachineShape::kUnequalCpus:
      return "two unequal CPUs";
    case MachineShape::kGpus:
      return "two GPUs";
    case MachineShape::kCpuAndGpus:
      break;
  }
  return "a CPU and two GPUs";
}

PlacementProblem RandomProblem(uint64_t seed, const ProblemOptions& options) {
  return Sketch(seed, options).Run();
}

}  // namespace partita
