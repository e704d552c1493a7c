// Gradients are all-reduced during the backward pass, in the predicted timeline
// of a training step over two GPUs.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/builder/examples/models.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

// The weights have 88 kB of gradients: those of the linear layers, of the
// second convolution and of the first.
constexpr int64_t kSmallBucket = int64_t{16} << 10;

// By node id: true for nodes on which the values depend.
std::vector<bool> DependenciesOf(const Graph& graph,
                                 std::vector<ValueId> values) {
  std::vector<bool> makes(graph.node_id_bound(), false);
  while (!values.empty()) {
    const NodeId maker = graph.value(values.back()).defining_node;
    values.pop_back();
    if (!maker.valid() || makes[maker.index]) continue;
    makes[maker.index] = true;
    const Node& node = graph.node(maker);
    values.insert(values.end(), node.operands.begin(), node.operands.end());
  }
  return makes;
}

// The collectives of a training step that the loss does not depend on, and the
// kernels that only they depend on.
struct BackwardPass {
  std::vector<bool> collectives;  // by node id
  std::vector<bool> kernels;
};

BackwardPass BackwardOf(const Graph& graph) {
  const std::vector<bool> forward = DependenciesOf(graph, graph.outputs());
  BackwardPass pass;
  pass.collectives.assign(graph.node_id_bound(), false);
  std::vector<ValueId> gradients;
  for (const OpView& op : graph.ops()) {
    if (forward[op.id().index]) continue;
    if (CollectiveOf(op) != CollectiveKind::kAllReduce) continue;
    pass.collectives[op.id().index] = true;
    const Node& node = op.node();
    gradients.insert(gradients.end(), node.operands.begin(),
                     node.operands.end());
  }
  pass.kernels = DependenciesOf(graph, std::move(gradients));
  for (size_t i = 0; i < forward.size(); ++i) {
    if (forward[i]) pass.kernels[i] = false;
  }
  return pass;
}

struct Span {
  double start = 0;
  double end = 0;
  StreamId stream;
};

// The spans of one device's commands of a kind, for the given nodes.
std::vector<Span> SpansOf(const Plan& plan, const std::string& device,
                          Command::Kind kind, const std::vector<bool>& nodes) {
  const Entry& entry = plan.entries[0];
  const auto commands = Expand(entry);
  EXPECT_TRUE(commands.ok()) << commands.status();
  if (!commands.ok()) return {};
  std::vector<Span> spans;
  for (CommandId c : commands->ids()) {
    const Command& command = (*commands)[c];
    const Stream& stream = entry.streams[command.stream.index];
    if (plan.devices[stream.device.index].traits.name != device) continue;
    if (command.kind != kind || !nodes[command.instance.node.index]) continue;
    const CommandNote& note = plan.notes->entries[0].predicted[c.index];
    spans.push_back({note.start_seconds, note.end_seconds, command.stream});
  }
  return spans;
}

// The longest overlap of a span of `some` with one of `others`.
double LongestOverlap(absl::Span<const Span> some,
                      absl::Span<const Span> others) {
  double longest = 0;
  for (const Span& a : some) {
    for (const Span& b : others) {
      longest = std::max(longest,
                         std::min(a.end, b.end) - std::max(a.start, b.start));
    }
  }
  return longest;
}

void ExpectAllReducesInTheBackwardPass(const Plan& plan,
                                       const std::string& device) {
  SCOPED_TRACE(device);
  const BackwardPass pass = BackwardOf(*plan.entries[0].graph);
  const std::vector<Span> kernels =
      SpansOf(plan, device, Command::Kind::kKernel, pass.kernels);
  const std::vector<Span> buckets =
      SpansOf(plan, device, Command::Kind::kCollective, pass.collectives);
  ASSERT_GE(kernels.size(), 5u);
  ASSERT_GE(buckets.size(), 2u);
  for (const Span& bucket : buckets) {
    EXPECT_NE(bucket.stream, kernels[0].stream);
  }
  EXPECT_GT(LongestOverlap(buckets, kernels), 0);
  // Both lists run in sequence, so the first and the last to start are known.
  EXPECT_LT(buckets.front().start, kernels.back().start);
}

// Over NVLink. Over PCIe, where a bucket takes longer than the kernels beside
// it, an order without overlap can be the faster one.
TEST(Overlap, BucketsAreReducedDuringTheBackwardPass) {
  for (const char* name : {"cpu_2_h100", "cpu_4_h100"}) {
    SCOPED_TRACE(name);
    auto machine =
        ReadMachine(std::string("examples/machines/") + name + ".json");
    ASSERT_TRUE(machine.ok()) << machine.status();
    // Priced by their rates: beside a generated kernel that takes most of the
    // step, buckets matter little.
    for (MachineDevice& device : machine->devices) {
      if (device.traits.kind == DeviceKind::kCuda) device.traits.isa.clear();
    }
    auto module = MnistTraining();
    ASSERT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    options.strategy = "data";
    options.bucket_bytes = kSmallBucket;
    const auto compiled = Compile(*std::move(module), *machine, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    ASSERT_EQ(compiled->plan.entries[0].name, "train");
    ASSERT_TRUE(compiled->plan.notes.has_value());
    for (const char* device : {"gpu:0", "gpu:1"}) {
      ExpectAllReducesInTheBackwardPass(compiled->plan, device);
    }
  }
}

}  // namespace
}  // namespace partita
