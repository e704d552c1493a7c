// Compares every kernel that the host offers for the samples of every op with
// eval, and writes the matrix of ops and devices.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_kernels.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/host_capacity.h"
#include "graph/ops/op_set.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/catalog/gpu_catalog.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

DeviceTraits Cpu(const std::string& isa) {
  DeviceTraits cpu = TestCpu(1);
  cpu.isa = isa;
  return cpu;
}

DeviceTraits Gpu() {
  DeviceTraits gpu = TestCpu(1);
  gpu.kind = DeviceKind::kCuda;
  return gpu;
}

TEST(HostKernels, EveryKernelAgreesWithEvalOnEverySample) {
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const absl::StatusOr<NodeId> node = AddSample(sample, graph);
    ASSERT_TRUE(node.ok()) << node.status();
    std::vector<HostTensor> tensors;
    KernelCheckOptions options;
    for (const SampleOperand& operand : sample.operands) {
      tensors.push_back(RandomTensor(operand, 7));
    }
    for (const HostTensor& tensor : tensors) {
      options.operands.push_back(&tensor);
    }
    for (const KernelLibrary* library : HostLibraries()) {
      // oneDNN's polynomials have this error, whatever the op's tolerance.
      options.tolerance = library->name() == "onednn" ? 2e-5 : 0;
      const CheckReport report =
          CheckKernels(graph.view(*node), HostCatalog(), *library, options);
      EXPECT_TRUE(report.status.ok())
          << ToString(sample) << ": " << report.status;
    }
  }
}

// A GPU's memory is out of their reach.
TEST(HostKernels, NoLibraryBindsForAGpu) {
  const DeviceTraits gpu = Gpu();
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const OpView node = graph.view(*AddSample(sample, graph));
    for (const KernelLibrary* library : HostLibraries()) {
      const KernelBinding any = {.kernel = std::string(library->name()),
                                 .workspace = 1 << 30};
      EXPECT_FALSE(library->Bind({node, &any, &gpu}).ok())
          << ToString(sample) << ": " << library->name();
    }
  }
}

// Kernel families by op: "conv  cpu: onednn.conv reference.eval  cuda: ..."
// Those of every instruction set, so that it is the same on every host.
std::string Matrix() {
  std::map<std::string, std::set<std::string>> cpu;
  std::map<std::string, std::set<std::string>> cuda;
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const OpView node = graph.view(*AddSample(sample, graph));
    for (const std::string& isa : CpuIsas()) {
      for (const KernelChoice& c : HostCatalog().Choices(node, Cpu(isa))) {
        cpu[sample.op->name].insert(c.kernel.ToString());
      }
    }
    for (const KernelChoice& c : GpuCatalog().Choices(node, Gpu())) {
      cuda[sample.op->name].insert(c.kernel.ToString());
    }
  }
  std::set<std::string> names;
  for (const OpDef* op : OpSet::BuiltIn().ops()) names.insert(op->name);
  std::string text =
      "# Kernels offered for the samples of each op; written by\n"
      "# //kernels/catalog:host_kernels_test with PARTITA_UPDATE_GOLDEN set\n";
  for (const std::string& name : names) {
    absl::StrAppend(&text, name, "\n  cpu:  ", absl::StrJoin(cpu[name], " "),
                    "\n  cuda: ", absl::StrJoin(cuda[name], " "), "\n");
  }
  return text;
}

TEST(HostKernels, TheMatrixOfOpsAndDevicesIsTheRecordedOne) {
  const std::string path = "tests/golden/kernel_matrix.txt";
  const std::string found = Matrix();
  if (const char* root = getenv("PARTITA_UPDATE_GOLDEN")) {
    std::ofstream(absl::StrCat(root, "/", path)) << found;
    return;
  }
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(found, expected.str())
      << "run the test with PARTITA_UPDATE_GOLDEN=<root of the tree> to accept";
}

}  // namespace
}  // namespace partita
