// Calls the stages one by one, as a compilation does.
// SPDX-License-Identifier: Apache-2.0

#include "tests/binding/bound_graphs.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "binding/choose_kernels.h"
#include "graph/batch.h"
#include "graph/builder/examples/models.h"
#include "graph/core_ops.h"
#include "graph/node_kernels.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/shard.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/verifier.h"
#include "partita/backends/built_in_catalog.h"
#include "passes/pipeline.h"
#include "placement/machine/sample_machines.h"
#include "placement/partition/fill_buckets.h"
#include "placement/partition/micro_batches.h"
#include "placement/partition/partition.h"
#include "placement/partition/variable_homes.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int64_t kMemory = int64_t{1} << 30;

// The kernels of this build, without those for fused nodes that begin with a
// convolution or product.
class CatalogWithoutFused : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    if (node.is(kFused) &&
        !node.region(0).ops().front().op().traits.elementwise) {
      return {};
    }
    return BuiltInCatalog().Choices(node, device);
  }
};

const KernelCatalog& CatalogOf(const BindingCase& binding) {
  static const auto& without_fused = *new CatalogWithoutFused;
  return binding.inlines_fused ? without_fused : BuiltInCatalog();
}

std::vector<DeviceTraits> TraitsOf(const Machine& machine) {
  std::vector<DeviceTraits> traits;
  for (const MachineDevice& device : machine.devices) {
    traits.push_back(device.traits);
  }
  return traits;
}

absl::Status RunSourcePasses(Graph& graph,
                             absl::Span<const DeviceTraits> traits) {
  const std::vector<DeviceClass> classes = ClassesOf(traits);
  const PipelineOptions passes{
      .context = {.has_kernel = [&classes](const OpView& fused) {
        return RunsFused(fused, BuiltInCatalog(), classes);
      }}};
  return RunPipeline(SourcePasses(), passes, graph);
}

absl::StatusOr<std::vector<Placement>> Place(const Graph& graph,
                                             const BindingCase& binding,
                                             const PlannerOptions& options) {
  Objective objective;
  for (const MachineDevice& device : binding.machine.devices) {
    objective.memory_limits.push_back(device.usable());
  }
  const size_t devices = binding.machine.devices.size();
  objective.needed_bytes =
      [devices](
          absl::Span<const Placement>) -> absl::StatusOr<std::vector<int64_t>> {
    return std::vector<int64_t>(devices, 0);
  };
  const absl::Span<const Planner> planners = Planners();
  const Planner& planner =
      *absl::c_find_if(planners, [&](const Planner& candidate) {
        return binding.strategy == candidate.name;
      });
  PARTITA_ASSIGN_OR_RETURN(
      const PlacementTable table,
      planner.Place(graph, binding.machine, CatalogOf(binding), objective,
                    options));
  std::vector<Placement> placements;
  for (const PlacedNode& node : table.nodes) {
    placements.push_back(node.placement);
  }
  return placements;
}

// A convolution with a tail of two nodes.
constexpr char kTail[] = R"(
graph @main(%x: f32[4, 16, 9, 9], %w: f32[16, 16, 3, 3], %r: f32[4, 16, 9, 9]) -> f32[4, 16, 9, 9] {
  %y = fused %x, %w, %r @body(%x: f32[4, 16, 9, 9], %w: f32[16, 16, 3, 3], %r: f32[4, 16, 9, 9]) {
    %c = conv %x, %w {pads_before = [1, 1], pads_after = [1, 1]} : f32[4, 16, 9, 9]
    %a = relu %c : f32[4, 16, 9, 9]
    %y = sub %a, %r : f32[4, 16, 9, 9]
    return %y
  } : f32[4, 16, 9, 9]
  return %y
})";

absl::StatusOr<Module> Tail() {
  return ParseModule(kTail, "tail.graph", OpSet::BuiltIn());
}

BoundGraph BoundOrDie(absl::StatusOr<Module> module,
                      const BindingCase& binding) {
  absl::Status status = module.status();
  if (status.ok()) {
    absl::StatusOr<BoundGraph> bound = BindMain(*std::move(module), binding);
    if (bound.ok()) return *std::move(bound);
    status = bound.status();
  }
  std::fprintf(stderr, "%s: %s\n", binding.name.c_str(),
               status.ToString().c_str());
  std::abort();
}

}  // namespace

absl::StatusOr<BoundGraph> BindMain(Module module, const BindingCase& binding) {
  const std::vector<DeviceTraits> traits = TraitsOf(binding.machine);
  Graph& graph = module.main();
  PARTITA_RETURN_IF_ERROR(RunSourcePasses(graph, traits));
  PlannerOptions options;
  options.batch = FindBatch(graph);
  if (binding.micro_batches > 1) {
    PARTITA_RETURN_IF_ERROR(RunPipeline(MicroBatchPasses(), {}, graph));
    PARTITA_ASSIGN_OR_RETURN(
        options.micro_batches,
        DivideIntoMicroBatches(graph, binding.micro_batches));
    options.batch = BatchOfInputs(graph, options.micro_batches.sharded_inputs);
  }
  BoundGraph result{binding.name, {}, graph.Clone(&module.literals()), {}};
  Graph& placed = *result.placed;
  const VariableHomes homes = HomesToDecide(module);
  options.follows_variables = WriteHomes(homes, placed);
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Placement> placements,
                           Place(placed, binding, options));
  PARTITA_RETURN_IF_ERROR(
      Partition(placed, placements, binding.machine, {.homes = homes}));
  PARTITA_RETURN_IF_ERROR(
      FillBuckets(placed, int64_t{4} << 20,
                  VaryingValues(placed, options.micro_batches.sharded_inputs)));
  PARTITA_RETURN_IF_ERROR(Verify(placed));
  result.bound = placed.Clone(&module.literals());
  PackedConstants packed;
  PARTITA_RETURN_IF_ERROR(
      ChooseKernels(*result.bound, CatalogOf(binding), traits, packed)
          .status());
  PARTITA_RETURN_IF_ERROR(Verify(*result.bound));
  result.module = std::move(module);
  return result;
}

std::vector<BoundGraph> BoundModels() {
  const Machine one = EqualCpus(1, kMemory);
  const Machine two = EqualCpus(2, kMemory);
  const Machine gpus = CpuAndGpus(2, kMemory);
  const MnistTrainingOptions mnist{.batch = 8};
  const GptTrainingOptions gpt{.batch = 4,
                               .layers = 2,
                               .width = 16,
                               .heads = 2,
                               .context = 8,
                               .vocabulary = 32};
  std::vector<BoundGraph> models;
  const auto add = [&](absl::StatusOr<Module> module, BindingCase binding) {
    models.push_back(BoundOrDie(std::move(module), binding));
  };
  add(SmallConvNet(), {"convolutions", one, "single"});
  add(SmallConvNet(), {"convolutions, inlined", one, "single", 1, true});
  add(SmallConvNet(), {"convolutions, pipeline", two, "pipeline"});
  add(SmallConvNet(), {"convolutions, two GPUs", gpus, "data"});
  add(SmallConvNet(), {"convolutions, data, inlined", two, "data", 1, true});
  add(Tail(), {"tail", one, "single", 1, true});
  add(Tail(), {"tail, data", two, "data", 1, true});
  add(TwoLayerPerceptron(), {"perceptron", two, "data", 1, true});
  add(MnistTraining(mnist), {"mnist, one device", one, "single"});
  add(MnistTraining(mnist), {"mnist, data", two, "data"});
  add(MnistTraining(mnist), {"mnist, micro-batches", two, "pipeline", 2, true});
  add(MnistTraining(mnist), {"mnist, all", two, "data", 2, true});
  add(GptTraining(gpt), {"gpt", two, "pipeline", 2});
  add(GptTraining(gpt), {"gpt, inlined", two, "data", 1, true});
  return models;
}

}  // namespace partita
