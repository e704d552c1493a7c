// Lists rivals and predicts their steps.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/rivals.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/device_traits.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"

namespace partita {
namespace {

constexpr int kMicroBatches[] = {2, 4, 8};
constexpr int64_t kShardedUpdateBytes = int64_t{64} << 10;

bool IsTraining(const Module& module) {
  return absl::c_any_of(module.functions(), [](const auto& function) {
    return !function->updates().empty();
  });
}

using DeviceNames = std::vector<std::string>;

// The largest class of equal devices.
DeviceNames EqualDevices(const Machine& machine) {
  DeviceNames best;
  for (const MachineDevice& first : machine.devices) {
    DeviceNames names;
    for (const MachineDevice& other : machine.devices) {
      if (SameButName(first.traits, other.traits) &&
          first.usable() == other.usable()) {
        names.push_back(other.traits.name);
      }
    }
    if (names.size() > best.size()) best = std::move(names);
  }
  return best;
}

// GPUs first.
DeviceNames DevicesForStages(const Machine& machine) {
  DeviceNames names;
  for (DeviceKind kind : {DeviceKind::kCuda, DeviceKind::kCpu}) {
    for (const MachineDevice& device : machine.devices) {
      if (device.traits.kind == kind) names.push_back(device.traits.name);
    }
  }
  return names;
}

// 2 and `most`, each once; nothing below 2.
std::set<int> Counts(size_t most) {
  if (most < 2) return {};
  return {2, static_cast<int>(most)};
}

// A layer, and the patterns that pin its nodes.
struct Layer {
  std::string name;
  std::set<std::string> patterns;
};

// By the outermost scopes, in the order of the module's first function.
std::vector<Layer> ScopesOf(const Module& module) {
  std::vector<Layer> layers;
  for (const auto& function : module.functions()) {
    for (const OpView& op : function->ops()) {
      const std::string& scope = op.node().scope;
      if (scope.empty()) continue;
      const std::string name = scope.substr(0, scope.find('/'));
      auto layer = absl::c_find_if(
          layers, [&](const Layer& known) { return known.name == name; });
      if (layer == layers.end()) {
        layer = layers.insert(layers.end(), Layer{name, {}});
      }
      layer->patterns.insert(scope);
    }
  }
  return layers;
}

std::vector<Layer> NodesOf(const Graph& graph) {
  std::vector<Layer> layers;
  for (const OpView& op : graph.ops()) {
    if (op.num_operands() == 0) continue;  // stored where it is read
    const std::string& name = op.result(0).name();
    layers.push_back({name, {name}});
  }
  return layers;
}

std::vector<Layer> LayersOf(const Module& module) {
  std::vector<Layer> layers = ScopesOf(module);
  return layers.empty() ? NodesOf(module.main()) : layers;
}

void PinLayer(const Layer& layer, const std::string& device,
              CompileOptions& options) {
  for (const std::string& pattern : layer.patterns) {
    options.pins.push_back({.pattern = pattern, .devices = {device}});
  }
}

class RivalList {
 public:
  RivalList(const Module& module, const Machine& machine)
      : is_training_(IsTraining(module)),
        machine_(machine),
        layers_(LayersOf(module)),
        equal_(EqualDevices(machine)),
        stages_(DevicesForStages(machine)) {}

  std::vector<Rival> Run() {
    for (const MachineDevice& device : machine_.devices) {
      AddStrategy(absl::StrCat("single_", device.traits.name), "single")
          .planner.device = device.traits.name;
    }
    for (int count : Counts(equal_.size())) AddData(count);
    for (int count : Counts(stages_.size())) AddPipeline(count);
    AddStrategy("list", "list");
    AddStrategy("search", "search");
    for (int count : Counts(equal_.size())) AddSplits(count);
    for (int count : Counts(stages_.size())) AddStagesByHand(count);
    AddHybrid();
    return std::move(rivals_);
  }

 private:
  CompileOptions& AddStrategy(std::string name, const char* strategy) {
    rivals_.push_back({std::move(name), {}});
    rivals_.back().options.strategy = strategy;
    return rivals_.back().options;
  }

  CompileOptions& AddReplicas(const std::string& name, int count) {
    CompileOptions& options = AddStrategy(name, "data");
    options.planner.replicas = count;
    return options;
  }

  void AddData(int count) {
    const std::string name = absl::StrCat("data_", count);
    AddReplicas(name, count);
    if (!is_training_) return;
    AddReplicas(absl::StrCat(name, "_sharded"), count)
        .planner.sharded_update_bytes = kShardedUpdateBytes;
    for (int micro_batches : kMicroBatches) {
      AddReplicas(absl::StrCat(name, "_", micro_batches), count).micro_batches =
          micro_batches;
    }
  }

  CompileOptions& AddStages(const std::string& name, int count) {
    CompileOptions& options = AddStrategy(name, "pipeline");
    options.planner.stages = count;
    return options;
  }

  void AddPipeline(int count) {
    const std::string name = absl::StrCat("pipeline_", count);
    AddStages(name, count);
    if (!is_training_) return;
    for (int micro_batches : kMicroBatches) {
      CompileOptions& early =
          AddStages(absl::StrCat(name, "_1f1b_", micro_batches), count);
      early.micro_batches = micro_batches;
      early.schedule = PipelineSchedule::kOneForwardOneBackward;
      CompileOptions& late =
          AddStages(absl::StrCat(name, "_gpipe_", micro_batches), count);
      late.micro_batches = micro_batches;
      late.schedule = PipelineSchedule::kGPipe;
    }
  }

  void AddSplits(int count) {
    const DeviceNames devices(equal_.begin(), equal_.begin() + count);
    for (int dim : {-1, 0, 1}) {
      const std::string how = dim < 0 ? "whole" : absl::StrCat("split", dim);
      AddStrategy(absl::StrCat(how, "_", count), "pinned").pins = {
          {.pattern = "*", .devices = devices, .dim = dim}};
    }
  }

  void AddStagesByHand(int count) {
    if (layers_.size() < static_cast<size_t>(count)) return;
    CompileOptions& options =
        AddStrategy(absl::StrCat("layers_", count), "pinned");
    for (size_t i = 0; i < layers_.size(); ++i) {
      PinLayer(layers_[i], stages_[i * count / layers_.size()], options);
    }
  }

  void AddHybrid() {
    const MachineDevice& last = machine_.devices.back();
    if (layers_.size() < 2 || layers_[0].name != "embedding" ||
        machine_.FindDevice("cpu:0") == nullptr ||
        last.traits.kind != DeviceKind::kCuda) {
      return;
    }
    CompileOptions& options = AddStrategy("hybrid", "pinned");
    PinLayer(layers_[0], "cpu:0", options);
    for (size_t i = 1; i < layers_.size(); ++i) {
      PinLayer(layers_[i], stages_[0], options);
    }
  }

  const bool is_training_;
  const Machine& machine_;
  const std::vector<Layer> layers_;
  const DeviceNames equal_;
  const DeviceNames stages_;
  std::vector<Rival> rivals_;
};

absl::StatusOr<Module> ReadGraph(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(absl::StrCat(
        path,
        ": cannot be read; expected a graph; run it in the root of the "
        "source tree"));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return ParseModule(text.str(), path, OpSet::BuiltIn());
}

}  // namespace

std::vector<Rival> RivalsOf(const Module& module, const Machine& machine) {
  return RivalList(module, machine).Run();
}

std::vector<std::string> RivalMachines() {
  return {"two_small_cpus", "cpu_two_small_gpus", "cpu_2_rtx4090", "cpu_4_h100",
          "cpu_unequal_gpus"};
}

std::vector<BenchmarkModel> RivalModels(const std::string& root) {
  std::vector<BenchmarkModel> models = BenchmarkModels();
  const std::string path = absl::StrCat(root, "/examples/mlp.graph");
  models.push_back({"mlp_example", [path] { return ReadGraph(path); }});
  return models;
}

absl::StatusOr<PlannedStep> PlanStep(const Module& module,
                                     const Machine& machine,
                                     const CompileOptions& options) {
  PARTITA_ASSIGN_OR_RETURN(const Compiled compiled,
                           Predict(module.Clone(), machine, options));
  PlannedStep step{.strategy = compiled.report.strategy};
  for (const EntryReport& entry : compiled.report.entries) {
    step.seconds += entry.step_seconds;
  }
  return step;
}

}  // namespace partita
