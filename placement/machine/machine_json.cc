// Reads and writes machine files.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/device_limits.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "placement/machine/byte_size.h"
#include "placement/machine/link_collectives_json.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"
#include "placement/machine/strict_json.h"
#include "placement/machine/traits_json.h"

namespace partita {
namespace {

constexpr size_t kMaxLinks = 65536;
constexpr int kMaxHostCores = 65536;
constexpr size_t kMaxProfileName = 255;

absl::StatusOr<MachineDevice> ReadDevice(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(
      object.AllowKeys({"name", "kind", "memory", "reserve", "threads", "isa",
                        "peak_flops", "memory_bandwidth", "launch_seconds"}));
  MachineDevice device;
  DeviceTraits& traits = device.traits;
  PARTITA_ASSIGN_OR_RETURN(traits.name, ReadDeviceName(object, "name"));
  PARTITA_ASSIGN_OR_RETURN(traits.kind, ReadKind(object));
  PARTITA_ASSIGN_OR_RETURN(device.memory, object.Bytes("memory", 1));
  if (object.Has("reserve")) {
    PARTITA_ASSIGN_OR_RETURN(device.reserve, object.Bytes("reserve", 0));
  }
  if (device.reserve >= device.memory) {
    return object.Error(
        "reserve", ExactByteSize(device.reserve),
        absl::StrCat("less than memory, ", ExactByteSize(device.memory)));
  }
  PARTITA_RETURN_IF_ERROR(ReadRates(object, traits));
  return device;
}

absl::StatusOr<std::string> ReadEnd(const JsonObject& object,
                                    absl::string_view key,
                                    const Machine& machine) {
  PARTITA_ASSIGN_OR_RETURN(std::string name, object.String(key));
  if (machine.FindDevice(name) != nullptr) return name;
  std::vector<absl::string_view> known;
  for (const MachineDevice& d : machine.devices) known.push_back(d.traits.name);
  return object.Error(key, absl::StrCat("unknown device ", ShownText(name)),
                      absl::StrCat("one of ", absl::StrJoin(known, ", "),
                                   DidYouMean(name, known)));
}

// Unordered pairs of devices that have a link.
using LinkedPairs = absl::flat_hash_set<std::pair<std::string, std::string>>;

absl::StatusOr<Link> ReadLink(const JsonObject& object, const Machine& machine,
                              LinkedPairs& linked) {
  PARTITA_RETURN_IF_ERROR(
      object.AllowKeys({"from", "to", "bandwidth", "latency", "duplex", "bus",
                        "gather", "reduce"}));
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
    PARTITA_ASSIGN_OR_RETURN(link.bus, ReadDeviceName(object, "bus"));
  }
  PARTITA_ASSIGN_OR_RETURN(link.collectives, ReadLinkCollectives(object));
  return link;
}

// A file in the machine file's folder or below it.
bool IsProfileName(const std::string& name) {
  if (name.empty() || name.size() > kMaxProfileName) return false;
  if (absl::c_any_of(name, [](char c) { return absl::ascii_iscntrl(c); })) {
    return false;
  }
  const std::filesystem::path path(name);
  return path.is_relative() && path.has_filename() && path.filename() != "." &&
         absl::c_none_of(path, [](const std::filesystem::path& part) {
           return part == "..";
         });
}

absl::StatusOr<MachineProfile> ReadProfileKeys(const JsonObject& object) {
  MachineProfile profile;
  if (object.Has("profile")) {
    PARTITA_ASSIGN_OR_RETURN(profile.file, object.String("profile"));
    if (!IsProfileName(profile.file)) {
      return object.Error("profile", ShownText(profile.file),
                          "a file in the folder of the machine file, such as "
                          "\"here.profile\"");
    }
  }
  if (!object.Has("profile_hash")) return profile;
  PARTITA_ASSIGN_OR_RETURN(profile.hash, object.String("profile_hash"));
  if (ParseContentHash(profile.hash).has_value()) return profile;
  return object.Error("profile_hash", ShownText(profile.hash),
                      "32 hexadecimal digits");
}

absl::StatusOr<MachineHost> ReadHost(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(
      {"cores", "wake_seconds", "copy_latency", "copy_bandwidth"}));
  MachineHost host;
  PARTITA_ASSIGN_OR_RETURN(const int64_t cores,
                           object.Integer("cores", 1, kMaxHostCores));
  host.cores = static_cast<int>(cores);
  if (object.Has("wake_seconds")) {
    PARTITA_ASSIGN_OR_RETURN(host.wake_seconds,
                             object.Number("wake_seconds", 0, kMaxSeconds));
  }
  if (object.Has("copy_latency")) {
    PARTITA_ASSIGN_OR_RETURN(host.copy_latency,
                             object.Number("copy_latency", 0, kMaxSeconds));
  }
  if (object.Has("copy_bandwidth")) {
    PARTITA_ASSIGN_OR_RETURN(host.copy_bandwidth,
                             object.Number("copy_bandwidth", 1, kMaxRate));
  }
  return host;
}

absl::StatusOr<Machine> ReadMachineObject(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(
      {"name", "devices", "links", "host", "profile", "profile_hash"}));
  Machine machine;
  PARTITA_ASSIGN_OR_RETURN(machine.name, object.String("name"));
  PARTITA_ASSIGN_OR_RETURN(machine.profile, ReadProfileKeys(object));
  if (object.Has("host")) {
    PARTITA_ASSIGN_OR_RETURN(const JsonObject host, object.Object("host"));
    PARTITA_ASSIGN_OR_RETURN(machine.host, ReadHost(host));
  }
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

std::string DeviceJson(const MachineDevice& device) {
  std::vector<std::string> lines = {
      absl::StrCat("\"name\": ", JsonQuoted(device.traits.name)),
      KindJson(device.traits),
      absl::StrCat("\"memory\": ", JsonQuoted(ExactByteSize(device.memory))),
      absl::StrCat("\"reserve\": ", JsonQuoted(ExactByteSize(device.reserve))),
  };
  for (std::string& line : RatesJson(device.traits)) {
    lines.push_back(std::move(line));
  }
  return absl::StrCat("    {\n      ", absl::StrJoin(lines, ",\n      "),
                      "\n    }");
}

std::string LinkJson(const Link& link) {
  const std::string bus =
      link.bus.empty() ? "" : absl::StrCat(", \"bus\": ", JsonQuoted(link.bus));
  return absl::StrCat("    {\"from\": ", JsonQuoted(link.from),
                      ", \"to\": ", JsonQuoted(link.to), ", ",
                      TransferFiguresJson(link.bandwidth, link.latency),
                      ", \"duplex\": ", link.duplex ? "true" : "false", bus,
                      LinkCollectivesJson(link.collectives), "}");
}

std::string ProfileKeys(const MachineProfile& profile) {
  std::string keys;
  if (!profile.file.empty()) {
    absl::StrAppend(&keys, ",\n  \"profile\": ", JsonQuoted(profile.file));
  }
  if (!profile.hash.empty()) {
    absl::StrAppend(&keys, ",\n  \"profile_hash\": ", JsonQuoted(profile.hash));
  }
  return keys;
}

std::string HostKey(const MachineHost& host) {
  if (host.cores == 0) return "";
  std::string keys =
      absl::StrCat(",\n  \"host\": {\"cores\": ", host.cores,
                   ", \"wake_seconds\": ", JsonNumber(host.wake_seconds));
  if (host.copy_bandwidth > 0) {
    absl::StrAppend(&keys,
                    ", \"copy_latency\": ", JsonNumber(host.copy_latency),
                    ", \"copy_bandwidth\": ", JsonNumber(host.copy_bandwidth));
  }
  return keys + "}";
}

// Also follows links: the file is inside the folder of the machine file.
absl::StatusOr<std::string> ProfilePath(const std::string& machine_path,
                                        const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(machine_path).parent_path();
  const std::filesystem::path path = folder / name;
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  // ReadProfile says that it is missing.
  if (error) return path.string();
  const std::filesystem::path within =
      std::filesystem::canonical(folder.empty() ? "." : folder, error);
  const std::filesystem::path inside = found.lexically_relative(within);
  if (!error && !inside.empty() && *inside.begin() != "..") {
    return path.string();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      machine_path, ": profile: found \"", name,
      "\", which leads out of the folder of the machine file; expected a file "
      "in it; copy the profile there"));
}

}  // namespace

absl::StatusOr<Machine> ParseMachine(absl::string_view json,
                                     absl::string_view source) {
  PARTITA_ASSIGN_OR_RETURN(JsonDocument document,
                           JsonDocument::Parse(json, source));
  PARTITA_ASSIGN_OR_RETURN(JsonObject root, document.Root());
  return ReadMachineObject(root);
}

absl::StatusOr<Machine> ReadMachineWithoutProfile(const std::string& path) {
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

absl::StatusOr<Machine> ReadMachine(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(Machine machine, ReadMachineWithoutProfile(path));
  if (machine.profile.file.empty()) {
    if (machine.profile.hash.empty()) return machine;
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": profile_hash: found a hash and no profile; expected the profile's "
        "file as `profile`"));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::string profile_path,
                           ProfilePath(path, machine.profile.file));
  PARTITA_ASSIGN_OR_RETURN(Profile profile, ReadProfile(profile_path));
  PARTITA_RETURN_IF_ERROR(
      UseProfile(std::move(profile), profile_path, machine));
  return machine;
}

std::string MachineToJson(const Machine& machine) {
  return absl::StrCat(
      "{\n  \"name\": ", JsonQuoted(machine.name), ProfileKeys(machine.profile),
      HostKey(machine.host),
      ",\n  \"devices\": ", JsonList(machine.devices, DeviceJson),
      ",\n  \"links\": ", JsonList(machine.links, LinkJson), "\n}\n");
}

}  // namespace partita
