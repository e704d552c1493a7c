// Builds the machines of tests.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/sample_machines.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

void JoinAll(Machine& machine) {
  for (size_t i = 0; i < machine.devices.size(); ++i) {
    for (size_t j = i + 1; j < machine.devices.size(); ++j) {
      Link link;
      link.from = machine.devices[i].traits.name;
      link.to = machine.devices[j].traits.name;
      link.bandwidth = 1e10;
      machine.links.push_back(std::move(link));
    }
  }
}

}  // namespace

MachineDevice SampleDevice(std::string name, DeviceKind kind, int64_t memory) {
  MachineDevice device;
  device.traits.name = std::move(name);
  device.traits.kind = kind;
  device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e12;
  device.traits.memory_bandwidth = 1e11;
  device.memory = memory;
  return device;
}

Machine CpuAndGpus(int gpus, int64_t gpu_memory) {
  Machine machine;
  machine.name = "sample";
  machine.devices.push_back(
      SampleDevice("cpu:0", DeviceKind::kCpu, int64_t{1} << 40));
  machine.devices[0].traits.peak_flops[static_cast<int>(DType::kF32)] = 1e11;
  for (int i = 0; i < gpus; ++i) {
    machine.devices.push_back(
        SampleDevice(absl::StrCat("gpu:", i), DeviceKind::kCuda, gpu_memory));
  }
  JoinAll(machine);
  return machine;
}

Machine EqualCpus(int cpus, int64_t memory) {
  Machine machine;
  machine.name = "sample";
  for (int i = 0; i < cpus; ++i) {
    machine.devices.push_back(
        SampleDevice(absl::StrCat("cpu:", i), DeviceKind::kCpu, memory));
  }
  JoinAll(machine);
  return machine;
}

}  // namespace partita
