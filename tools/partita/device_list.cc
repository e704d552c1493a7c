// Writes the list as text and as JSON.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/device_list.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/device_kind_traits.h"
#include "nlohmann/json.hpp"
#include "placement/machine/byte_size.h"
#include "placement/machine/link_table.h"
#include "tools/partita/json_text.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

// "gpu:2", or the devices that stand for shares of it: "gpu:4 to gpu:5".
std::string NameOfGpu(int number, GpuSplit split) {
  const int first = number * split.shares;
  const std::string name = absl::StrCat("gpu:", first);
  if (!split.splits()) return name;
  return absl::StrCat(name, " to gpu:", first + split.shares - 1);
}

const char* RouteName(GpuRoute route) {
  switch (route) {
    case GpuRoute::kNvlink:
      return "nvlink";
    case GpuRoute::kPcie:
      return "pcie";
    case GpuRoute::kThroughHost:
      return "host";
  }
  return "host";
}

std::string CapabilityOf(const DetectedGpu& gpu) {
  return absl::StrCat(gpu.capability_major, ".", gpu.capability_minor);
}

std::string CpuLine(const MachineDevice& cpu) {
  return absl::StrCat("  ", cpu.traits.name, "  ", cpu.traits.isa, ", ",
                      CountText(cpu.traits.threads, "thread"), ", ",
                      RoundedByteSize(cpu.memory), "\n");
}

std::string GpuLine(const DetectedGpu& gpu, const std::string& name) {
  return absl::StrCat(
      "  ", name, "  ", gpu.model.empty() ? "name unknown" : gpu.model, ", ",
      RoundedByteSize(gpu.device.memory), ", compute capability ",
      CapabilityOf(gpu), ", PCIe ",
      gpu.pci_address.empty() ? "address unknown" : gpu.pci_address,
      RunsPlans(gpu) ? "" : "; no plan runs on it: expected 8.0 or later",
      "\n");
}

std::string RouteText(const GpuPair& pair) {
  const std::string driver =
      absl::StrCat(", performance rank ", pair.performance_rank,
                   pair.native_atomics ? ", native atomics" : "");
  switch (pair.route) {
    case GpuRoute::kNvlink:
      return absl::StrCat("NVLink, ",
                          pair.nvlinks == 0 ? "number of links unknown"
                                            : CountText(pair.nvlinks, "link"),
                          driver);
    case GpuRoute::kPcie:
      return absl::StrCat("PCIe, peer access", driver);
    case GpuRoute::kThroughHost:
      break;
  }
  return "no peer access: copies go through the host's memory";
}

std::string PairText(const GpuPair& pair, GpuSplit split) {
  return absl::StrCat("  ", NameOfGpu(pair.one, split), " - ",
                      NameOfGpu(pair.two, split), "  ", RouteText(pair), "\n");
}

bool IsMeasured(const DeviceList& list, const Link& link) {
  if (!list.measured.has_value()) return false;
  return absl::c_any_of(list.measured->links, [&](const MeasuredLink& known) {
    return known.ends() == LinkTable::InOrder(link.from, link.to);
  });
}

const MeasuredReserve* ReserveOf(const DeviceList& list,
                                 const std::string& device) {
  if (!list.measured.has_value()) return nullptr;
  for (const MeasuredReserve& reserve : list.measured->reserves) {
    if (reserve.device == device) return &reserve;
  }
  return nullptr;
}

std::string LinkLine(const DeviceList& list, const Link& link) {
  return absl::StrFormat("  %s - %s  %.1f GB/s, %s, %s\n", link.from, link.to,
                         link.bandwidth / 1e9, SecondsText(link.latency),
                         IsMeasured(list, link) ? "measured" : "from tables");
}

std::string ReserveLine(const DeviceList& list, const MachineDevice& device) {
  const MeasuredReserve* const measured = ReserveOf(list, device.traits.name);
  const std::string head = absl::StrCat("  ", device.traits.name, "  reserve ",
                                        RoundedByteSize(device.reserve), ", ");
  if (measured == nullptr) return absl::StrCat(head, "from tables\n");
  return absl::StrCat(head, "measured: ", RoundedByteSize(measured->context),
                      " in use with a context, ",
                      RoundedByteSize(measured->code), " with code\n");
}

bool IsGpu(const MachineDevice& device) {
  return !TraitsOf(device.traits.kind).shares_host;
}

void AddMeasurementNotes(const GpuMeasurements& measured, std::string& text) {
  if (measured.left > 0) {
    absl::StrAppend(&text, "left, as the time was over: ",
                    CountText(measured.left, "measurement"),
                    "; a larger --time-budget measures them\n");
  }
  for (const std::string& reason : measured.skipped) {
    absl::StrAppend(&text, "not measured: ", reason, "\n");
  }
}

Json GpuJson(const DeviceList& list, int number) {
  const DetectedGpu& gpu = list.gpus.gpus[number];
  Json devices = Json::array();
  for (int share = 0; share < list.split.shares; ++share) {
    devices.push_back(absl::StrCat("gpu:", number * list.split.shares + share));
  }
  return {{"devices", devices},
          {"model", gpu.model},
          {"memory", gpu.device.memory},
          {"compute_capability", CapabilityOf(gpu)},
          {"pci_address", gpu.pci_address},
          {"runs_plans", RunsPlans(gpu)}};
}

Json PairJson(const GpuPair& pair) {
  Json json = {{"gpus", {pair.one, pair.two}},
               {"route", RouteName(pair.route)}};
  if (pair.route == GpuRoute::kThroughHost) return json;
  json["nvlinks"] = pair.route == GpuRoute::kNvlink && pair.nvlinks == 0
                        ? Json()
                        : Json(pair.nvlinks);
  json["performance_rank"] = pair.performance_rank;
  json["native_atomics"] = pair.native_atomics;
  return json;
}

Json DeviceJson(const DeviceList& list, const MachineDevice& device) {
  Json json = {{"name", device.traits.name},
               {"kind", DeviceKindName(device.traits.kind)},
               {"isa", device.traits.isa},
               {"memory", device.memory},
               {"reserve", device.reserve}};
  if (!IsGpu(device)) json["threads"] = device.traits.threads;
  const MeasuredReserve* const measured = ReserveOf(list, device.traits.name);
  if (measured == nullptr) return json;
  json["measured_outside_arenas"] = {{"context", measured->context},
                                     {"code", measured->code}};
  return json;
}

}  // namespace

std::string DeviceListText(const DeviceList& list) {
  std::string text = absl::StrCat("host ", list.machine.name, "\n");
  for (const MachineDevice& device : list.machine.devices) {
    if (!IsGpu(device)) text += CpuLine(device);
  }
  for (size_t g = 0; g < list.gpus.gpus.size(); ++g) {
    text +=
        GpuLine(list.gpus.gpus[g], NameOfGpu(static_cast<int>(g), list.split));
  }
  if (!list.gpus.why_no_gpus.empty()) {
    absl::StrAppend(&text, "no GPU: ", list.gpus.why_no_gpus, "\n");
    return text;
  }
  if (!list.gpus.why_not_all.empty()) {
    absl::StrAppend(&text, "not all GPUs: ", list.gpus.why_not_all, "\n");
  }
  if (!BuiltForGpus()) {
    text +=
        "this program was built without CUDA's headers: it makes plans for "
        "GPUs, and runs none on them\n";
  }
  if (!list.gpus.pairs.empty()) text += "routes between GPUs\n";
  for (const GpuPair& pair : list.gpus.pairs) {
    text += PairText(pair, list.split);
  }
  if (!list.gpus.why_no_nvlinks.empty()) {
    absl::StrAppend(
        &text, "NVLinks are not counted: ", list.gpus.why_no_nvlinks, "\n");
  }
  text += "in the machine file\n";
  for (const MachineDevice& device : list.machine.devices) {
    if (IsGpu(device)) text += ReserveLine(list, device);
  }
  for (const Link& link : list.machine.links) text += LinkLine(list, link);
  if (list.measured.has_value()) AddMeasurementNotes(*list.measured, text);
  return text;
}

std::string DeviceListJson(const DeviceList& list) {
  Json devices = Json::array();
  for (const MachineDevice& device : list.machine.devices) {
    devices.push_back(DeviceJson(list, device));
  }
  Json gpus = Json::array();
  for (size_t g = 0; g < list.gpus.gpus.size(); ++g) {
    gpus.push_back(GpuJson(list, static_cast<int>(g)));
  }
  Json routes = Json::array();
  for (const GpuPair& pair : list.gpus.pairs) routes.push_back(PairJson(pair));
  Json links = Json::array();
  for (const Link& link : list.machine.links) {
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"bandwidth", link.bandwidth},
                     {"latency", link.latency},
                     {"measured", IsMeasured(list, link)}});
  }
  Json json = {{"host", list.machine.name},
               {"devices", devices},
               {"gpus", gpus},
               {"routes", routes},
               {"links", links},
               {"no_gpus", list.gpus.why_no_gpus},
               {"not_all_gpus", list.gpus.why_not_all},
               {"no_nvlinks", list.gpus.why_no_nvlinks}};
  if (list.measured.has_value()) {
    json["left"] = list.measured->left;
    json["not_measured"] = list.measured->skipped;
  }
  return JsonText(json);
}

}  // namespace partita
