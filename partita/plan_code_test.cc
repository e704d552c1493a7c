// Tests which code objects a plan gets.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_code.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "partita/backends/built_in_catalog.h"

namespace partita {
namespace {

DeviceTraits Device(const std::string& name, DeviceKind kind,
                    const std::string& isa) {
  DeviceTraits device;
  device.name = name;
  device.kind = kind;
  device.isa = isa;
  return device;
}

// One generated kernel of a different size on each device.
void AddKernels(const std::vector<DeviceTraits>& devices, Plan& plan) {
  Graph& graph = plan.module.AddFunction("f");
  for (size_t d = 0; d < devices.size(); ++d) {
    const ValueId x =
        graph.AddInput("x" + std::to_string(d),
                       {DType::kF32, {static_cast<int64_t>(10 + d)}, {}});
    NodeSpec spec{.op = &kTanh, .operands = {x}};
    spec.placement.devices = {devices[d].name};
    const NodeId node = *graph.AddNode(std::move(spec));
    graph.node(node).kernel = KernelBinding{
        .kernel = devices[d].kind == DeviceKind::kCpu ? "codegen.elementwise"
                                                      : "ptx.elementwise"};
  }
}

std::vector<std::string> Targets(const std::vector<DeviceTraits>& devices) {
  Plan plan;
  AddKernels(devices, plan);
  const absl::Status built = BuildPlanCode(devices, BuiltInCatalog(), plan);
  EXPECT_TRUE(built.ok()) << built;
  std::vector<std::string> targets;
  for (const CodeObject& code : plan.code_objects) {
    targets.push_back(code.target);
  }
  return targets;
}

TEST(PlanCode, EachTargetHasOneCodeObject) {
  EXPECT_EQ(Targets({Device("cpu:0", DeviceKind::kCpu, "avx2"),
                     Device("gpu:0", DeviceKind::kCuda, "sm_80"),
                     Device("gpu:1", DeviceKind::kCuda, "sm_89"),
                     Device("gpu:2", DeviceKind::kCuda, "sm_120")}),
            (std::vector<std::string>{"sm_80", "sm_90", "x86-64-avx2"}));
}

TEST(PlanCode, ADeviceWithoutATargetHasNone) {
  EXPECT_EQ(Targets({Device("gpu:0", DeviceKind::kCuda, "sm_75")}),
            std::vector<std::string>());
}

}  // namespace
}  // namespace partita
