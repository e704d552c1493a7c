// Reads and writes machine files.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/device_kind_traits.h"
#include "graph/device_limits.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "placement/machine/byte_size.h"
#include "placement/machine/machine.h"
#include "placement/machine/strict_json.h"

namespace partita {
namespace {

constexpr size_t kMaxLinks = 65536;
constexpr double kMaxRate = 1e21;   // per second: flops or bytes
constexpr double kMaxSeconds = 60;  // of a latency or a launch

// Device names appear in the textual IR: letters, digits and _-.: only.
bool IsName(absl::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("_-.:", c)) return false;
  }
  return true;
}

absl::StatusOr<std::string> ReadName(const JsonObject& object,
                                     absl::string_view key) {
  PARTITA_ASSIGN_OR_RETURN(std::string name, object.String(key));
  if (IsName(name)) return name;
  return object.Error(key, absl::StrCat("\"", name, "\""),
                      "1 to 64 letters, digits or _-.: like \"gpu:0\"");
}

std::string ExpectedIsa(const IsaRule& rule, absl::string_view found) {
  if (rule.names == nullptr) return std::string(rule.form);
  const std::vector<std::string> names = rule.names();
  const std::vector<absl::string_view> known(names.begin(), names.end());
  return absl::StrCat("one of ", absl::StrJoin(known, ", "),
                      ", or no isa, which means ", rule.usual,
                      DidYouMean(found, known));
}

absl::StatusOr<std::string> ReadIsa(const JsonObject& object,
                                    const IsaRule& rule) {
  if (!object.Has("isa")) return std::string(rule.usual);
  PARTITA_ASSIGN_OR_RETURN(std::string isa, object.String("isa"));
  if (rule.accepts(isa)) return isa;
  return object.Error("isa", absl::StrCat("\"", isa, "\""),
                      ExpectedIsa(rule, isa));
}

// "\"cpu\" or \"cuda\""
std::string KindNames() {
  return absl::StrCat("\"", absl::StrJoin(DeviceKindNames(), "\" or \""), "\"");
}

absl::Status ReadPeaks(const JsonObject& object, DeviceTraits& traits) {
  std::vector<absl::string_view> names;
  for (int i = 0; i < kNumDTypes; ++i) {
    names.push_back(DTypeName(static_cast<DType>(i)));
  }
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(names));
  for (int i = 0; i < kNumDTypes; ++i) {
    const absl::string_view name = DTypeName(static_cast<DType>(i));
    if (!object.Has(name)) continue;
    PARTITA_ASSIGN_OR_RETURN(traits.peak_flops[i],
                             object.Number(name, 1, kMaxRate));
  }
  const int f32 = static_cast<int>(DType::kF32);
  if (traits.peak_flops[f32] > 0) return absl::OkStatus();
  return object.MissingKey("f32");
}

absl::StatusOr<MachineDevice> ReadDevice(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(
      object.AllowKeys({"name", "kind", "memory", "reserve", "threads", "isa",
                        "peak_flops", "memory_bandwidth", "launch_seconds"}));
  MachineDevice device;
  DeviceTraits& traits = device.traits;
  PARTITA_ASSIGN_OR_RETURN(traits.name, ReadName(object, "name"));
  PARTITA_ASSIGN_OR_RETURN(std::string kind_name, object.String("kind"));
  const std::optional<DeviceKind> kind = ParseDeviceKind(kind_name);
  if (!kind.has_value()) {
    return object.Error("kind", absl::StrCat("\"", kind_name, "\""),
                        KindNames());
  }
  traits.kind = *kind;
  PARTITA_ASSIGN_OR_RETURN(device.memory, object.Bytes("memory", 1));
  if (object.Has("reserve")) {
    PARTITA_ASSIGN_OR_RETURN(device.reserve, object.Bytes("reserve", 0));
  }
  if (device.reserve >= device.memory) {
    return object.Error(
        "reserve", ExactByteSize(device.reserve),
        absl::StrCat("less than memory, ", ExactByteSize(device.memory)));
  }
  if (object.Has("threads")) {
    PARTITA_ASSIGN_OR_RETURN(int64_t threads,
                             object.Integer("threads", 1, kMaxDeviceThreads));
    traits.threads = static_cast<int>(threads);
  }
  PARTITA_ASSIGN_OR_RETURN(traits.isa,
                           ReadIsa(object, TraitsOf(traits.kind).isa));
  PARTITA_ASSIGN_OR_RETURN(JsonObject peaks, object.Object("peak_flops"));
  PARTITA_RETURN_IF_ERROR(ReadPeaks(peaks, traits));
  PARTITA_ASSIGN_OR_RETURN(traits.memory_bandwidth,
                           object.Number("memory_bandwidth", 1, kMaxRate));
  if (object.Has("launch_seconds")) {
    PARTITA_ASSIGN_OR_RETURN(traits.launch_seconds,
                             object.Number("launch_seconds", 0, kMaxSeconds));
  }
  return device;
}

absl::StatusOr<std::string> ReadEnd(const JsonObject& object,
                                    absl::string_view key,
                                    const Machine& machine) {
  PARTITA_ASSIGN_OR_RETURN(std::string name, object.String(key));
  if (machine.FindDevice(name) != nullptr) return name;
  std::vector<absl::string_view> known;
  for (const MachineDevice& d : machine.devices) known.push_back(d.traits.name);
  return object.Error(key, absl::StrCat("unknown device \"", name, "\""),
                      absl::StrCat("one of ", absl::StrJoin(known, ", "),
                                   DidYouMean(name, known)));
}

// Unordered pairs of devices that have a link.
using LinkedPairs = absl::flat_hash_set<std::pair<std::string, std::string>>;

absl::StatusOr<Link> ReadLink(const JsonObject& object, const Machine& machine,
                              LinkedPairs& linked) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(
      {"from", "to", "bandwidth", "latency", "duplex", "bus"}));
  Link link;
  PARTITA_ASSIGN_OR_RETURN(link.from, ReadEnd(object, "from", machine));
  PARTITA_ASSIGN_OR_RETURN(link.to, ReadEnd(object, "to", machine));
  if (link.from == link.to) {
    return object.Error("to", absl::StrCat("\"", link.to, "\" at both ends"),
                        "another device than `from`");
  }
  const auto pair = std::minmax(link.from, link.to);
  if (!linked.emplace(pair.first, pair.second).second) {
    return object.Error(
        "to",
        absl::StrCat("a second link between ", link.from, " and ", link.to),
        "one link a pair; it carries both directions");
  }
  PARTITA_ASSIGN_OR_RETURN(link.bandwidth,
                           object.Number("bandwidth", 1, kMaxRate));
  if (object.Has("latency")) {
    PARTITA_ASSIGN_OR_RETURN(link.latency,
                             object.Number("latency", 0, kMaxSeconds));
  }
  if (object.Has("duplex")) {
    PARTITA_ASSIGN_OR_RETURN(link.duplex, object.Bool("duplex"));
  }
  if (object.Has("bus")) {
    PARTITA_ASSIGN_OR_RETURN(link.bus, ReadName(object, "bus"));
  }
  return link;
}

absl::StatusOr<Machine> ReadMachineObject(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys({"name", "devices", "links"}));
  Machine machine;
  PARTITA_ASSIGN_OR_RETURN(machine.name, object.String("name"));
  PARTITA_ASSIGN_OR_RETURN(std::vector<JsonObject> devices,
                           object.Objects("devices", 1, kMaxDevices));
  for (const JsonObject& entry : devices) {
    PARTITA_ASSIGN_OR_RETURN(MachineDevice device, ReadDevice(entry));
    if (machine.FindDevice(device.traits.name) != nullptr) {
      return entry.Error(
          "name", absl::StrCat("\"", device.traits.name, "\" a second time"),
          "a name of its own for every device");
    }
    machine.devices.push_back(std::move(device));
  }
  if (!object.Has("links")) return machine;
  PARTITA_ASSIGN_OR_RETURN(std::vector<JsonObject> links,
                           object.Objects("links", 0, kMaxLinks));
  LinkedPairs linked;
  for (const JsonObject& entry : links) {
    PARTITA_ASSIGN_OR_RETURN(Link link, ReadLink(entry, machine, linked));
    machine.links.push_back(std::move(link));
  }
  return machine;
}

// --- writing ---

std::string Number(double value) {
  return nlohmann::json(value).dump();  // shortest form that reads back equal
}

std::string Quoted(absl::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string DeviceJson(const MachineDevice& device) {
  const DeviceTraits& traits = device.traits;
  std::vector<std::string> peaks;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (traits.peak_flops[i] == 0) continue;
    peaks.push_back(absl::StrCat(Quoted(DTypeName(static_cast<DType>(i))), ": ",
                                 Number(traits.peak_flops[i])));
  }
  std::vector<std::string> lines = {
      absl::StrCat("\"name\": ", Quoted(traits.name)),
      absl::StrCat("\"kind\": ", Quoted(DeviceKindName(traits.kind))),
      absl::StrCat("\"memory\": ", Quoted(ExactByteSize(device.memory))),
      absl::StrCat("\"reserve\": ", Quoted(ExactByteSize(device.reserve))),
      absl::StrCat("\"threads\": ", traits.threads),
  };
  if (!traits.isa.empty()) {
    lines.push_back(absl::StrCat("\"isa\": ", Quoted(traits.isa)));
  }
  lines.push_back(
      absl::StrCat("\"peak_flops\": {", absl::StrJoin(peaks, ", "), "}"));
  lines.push_back(
      absl::StrCat("\"memory_bandwidth\": ", Number(traits.memory_bandwidth)));
  lines.push_back(
      absl::StrCat("\"launch_seconds\": ", Number(traits.launch_seconds)));
  return absl::StrCat("    {\n      ", absl::StrJoin(lines, ",\n      "),
                      "\n    }");
}

std::string LinkJson(const Link& link) {
  const std::string bus =
      link.bus.empty() ? "" : absl::StrCat(", \"bus\": ", Quoted(link.bus));
  return absl::StrCat(
      "    {\"from\": ", Quoted(link.from), ", \"to\": ", Quoted(link.to),
      ", \"bandwidth\": ", Number(link.bandwidth),
      ", \"latency\": ", Number(link.latency),
      ", \"duplex\": ", link.duplex ? "true" : "false", bus, "}");
}

template <typename T>
std::string JsonList(const std::vector<T>& items,
                     std::string (*text)(const T&)) {
  if (items.empty()) return "[]";
  std::vector<std::string> lines;
  for (const T& item : items) lines.push_back(text(item));
  return absl::StrCat("[\n", absl::StrJoin(lines, ",\n"), "\n  ]");
}

}  // namespace

absl::StatusOr<Machine> ParseMachine(absl::string_view json,
                                     absl::string_view source) {
  PARTITA_ASSIGN_OR_RETURN(JsonDocument document,
                           JsonDocument::Parse(json, source));
  PARTITA_ASSIGN_OR_RETURN(JsonObject root, document.Root());
  return ReadMachineObject(root);
}

absl::StatusOr<Machine> ReadMachine(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(
        absl::StrCat(file.status().message(),
                     ", or write a machine file with `partita devices`"));
  }
  PARTITA_RETURN_IF_ERROR(file.status());
  const absl::Span<const std::byte> bytes = (*file)->bytes();
  return ParseMachine(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string MachineToJson(const Machine& machine) {
  return absl::StrCat(
      "{\n  \"name\": ", Quoted(machine.name),
      ",\n  \"devices\": ", JsonList(machine.devices, DeviceJson),
      ",\n  \"links\": ", JsonList(machine.links, LinkJson), "\n}\n");
}

}  // namespace partita
