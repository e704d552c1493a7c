// Reads and writes profiles.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/atomic_file.h"
#include "graph/device_limits.h"
#include "graph/literal_pool.h"
#include "graph/status_macros.h"
#include "placement/machine/link_collectives_json.h"
#include "placement/machine/profile.h"
#include "placement/machine/strict_json.h"
#include "placement/machine/traits_json.h"

namespace partita {
namespace {

constexpr size_t kMostNameBytes = 256;
constexpr int64_t kMaxCacheBytes = int64_t{1} << 40;
constexpr int64_t kMostSteps = 1'000'000'000;

absl::StatusOr<std::string> ReadText(const JsonObject& object,
                                     absl::string_view key, size_t most) {
  PARTITA_ASSIGN_OR_RETURN(std::string text, object.String(key));
  if (!text.empty() && text.size() <= most) return text;
  return object.Error(key, absl::StrCat("a text of ", text.size(), " bytes"),
                      absl::StrCat("1 to ", most));
}

absl::StatusOr<double> ReadSeconds(const JsonObject& object,
                                   absl::string_view key) {
  return object.Number(key, kLeastNodeSeconds, kMostNodeSeconds);
}

absl::StatusOr<std::optional<double>> ReadOptionalSeconds(
    const JsonObject& object, absl::string_view key) {
  if (!object.Has(key)) return std::nullopt;
  PARTITA_ASSIGN_OR_RETURN(const double seconds, ReadSeconds(object, key));
  return seconds;
}

absl::StatusOr<ProfileHost> ReadHost(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys({"cpu", "isa", "threads"}));
  ProfileHost host;
  PARTITA_ASSIGN_OR_RETURN(host.cpu, ReadText(object, "cpu", kMostNameBytes));
  PARTITA_ASSIGN_OR_RETURN(host.isa, ReadText(object, "isa", kMostNameBytes));
  PARTITA_ASSIGN_OR_RETURN(const int64_t threads,
                           object.Integer("threads", 1, kMaxDeviceThreads));
  host.threads = static_cast<int>(threads);
  return host;
}

absl::StatusOr<DeviceTraits> ReadDevice(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(
      object.AllowKeys({"kind", "threads", "isa", "peak_flops",
                        "memory_bandwidth", "launch_seconds"}));
  DeviceTraits traits;
  PARTITA_ASSIGN_OR_RETURN(traits.kind, ReadKind(object));
  PARTITA_RETURN_IF_ERROR(ReadRates(object, traits));
  // Machine files have a usual one; a machine in memory may have none.
  if (!object.Has("isa")) traits.isa.clear();
  return traits;
}

absl::StatusOr<KernelFamily> ReadFamily(const JsonObject& object) {
  KernelFamily family;
  PARTITA_ASSIGN_OR_RETURN(family.op, ReadText(object, "op", kMostNameBytes));
  PARTITA_ASSIGN_OR_RETURN(const std::string dtype, object.String("dtype"));
  const std::optional<DType> parsed = ParseDType(dtype);
  if (!parsed.has_value()) {
    return object.Error("dtype", ShownText(dtype),
                        "an element type such as \"f32\"");
  }
  family.dtype = *parsed;
  PARTITA_ASSIGN_OR_RETURN(family.device, ReadKind(object));
  return family;
}

absl::StatusOr<MeasuredNode> ReadNode(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(
      {"signature", "op", "dtype", "kind", "kernel", "version", "fallback",
       "roofline", "warm", "cold", "in_steps", "steps"}));
  MeasuredNode node;
  PARTITA_ASSIGN_OR_RETURN(node.signature,
                           ReadText(object, "signature", kMostSignatureBytes));
  PARTITA_ASSIGN_OR_RETURN(node.family, ReadFamily(object));
  PARTITA_ASSIGN_OR_RETURN(node.kernel,
                           ReadText(object, "kernel", kMostNameBytes));
  PARTITA_ASSIGN_OR_RETURN(node.version,
                           ReadText(object, "version", kMostNameBytes));
  if (object.Has("fallback")) {
    PARTITA_ASSIGN_OR_RETURN(node.fallback, object.Bool("fallback"));
  }
  PARTITA_ASSIGN_OR_RETURN(node.roofline, ReadSeconds(object, "roofline"));
  PARTITA_ASSIGN_OR_RETURN(node.warm, ReadOptionalSeconds(object, "warm"));
  PARTITA_ASSIGN_OR_RETURN(node.cold, ReadOptionalSeconds(object, "cold"));
  if (object.Has("in_steps") || object.Has("steps")) {
    SecondsInSteps& in_steps = node.in_steps.emplace();
    PARTITA_ASSIGN_OR_RETURN(in_steps.seconds, ReadSeconds(object, "in_steps"));
    PARTITA_ASSIGN_OR_RETURN(in_steps.steps,
                             object.Integer("steps", 1, kMostSteps));
  }
  if (!node.warm && !node.cold && !node.in_steps) {
    return object.MissingKey("warm, cold or in_steps");
  }
  return node;
}

absl::StatusOr<MeasuredCopies> ReadCopies(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys({"bandwidth", "latency"}));
  MeasuredCopies copies;
  PARTITA_RETURN_IF_ERROR(
      ReadTransferFigures(object, copies.bandwidth, copies.latency));
  return copies;
}

absl::StatusOr<MeasuredLink> ReadLink(const JsonObject& object) {
  PARTITA_RETURN_IF_ERROR(object.AllowKeys(
      {"from", "to", "bandwidth", "latency", "gather", "reduce"}));
  MeasuredLink link;
  PARTITA_ASSIGN_OR_RETURN(link.from, ReadDeviceName(object, "from"));
  PARTITA_ASSIGN_OR_RETURN(link.to, ReadDeviceName(object, "to"));
  PARTITA_RETURN_IF_ERROR(
      ReadTransferFigures(object, link.bandwidth, link.latency));
  PARTITA_ASSIGN_OR_RETURN(link.collectives, ReadLinkCollectives(object));
  return link;
}

template <typename T>
absl::Status ReadList(const JsonObject& root, absl::string_view key,
                      size_t least, size_t most,
                      absl::StatusOr<T> (*read)(const JsonObject&),
                      std::vector<T>& items) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<JsonObject> objects,
                           root.Objects(key, least, most));
  for (const JsonObject& object : objects) {
    PARTITA_ASSIGN_OR_RETURN(T item, read(object));
    items.push_back(std::move(item));
  }
  return absl::OkStatus();
}

absl::Status CheckOrder(const JsonObject& root, const Profile& profile) {
  for (size_t i = 1; i < profile.nodes.size(); ++i) {
    if (profile.nodes[i - 1].signature < profile.nodes[i].signature) continue;
    return root.Error("nodes",
                      absl::StrCat("signature ", profile.nodes[i].signature,
                                   " out of order or twice"),
                      "every signature once, sorted");
  }
  for (size_t i = 1; i < profile.links.size(); ++i) {
    const MeasuredLink& link = profile.links[i];
    if (profile.links[i - 1].ends() < link.ends()) continue;
    return root.Error("links",
                      absl::StrCat("the link from ", link.from, " to ", link.to,
                                   " out of order or twice"),
                      "every pair of devices once, sorted");
  }
  return absl::OkStatus();
}

// Before all else: a newer format may have other keys.
absl::Status CheckFormat(const JsonObject& root) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t format,
                           root.Integer("format", 1, int64_t{1} << 31));
  if (format == kProfileFormat) return absl::OkStatus();
  return root.Error("format", absl::StrCat(format),
                    absl::StrCat(kProfileFormat,
                                 ", as this program reads no newer profiles; "
                                 "use a newer program, or measure again with "
                                 "`partita profile`"));
}

// No JSON: a truncated file, or another one.
absl::Status Damaged(const absl::Status& fault) {
  return absl::Status(
      fault.code(),
      absl::StrCat(fault.message(),
                   "; restore the file as it was written, or measure again "
                   "with `partita profile`"));
}

absl::Status CheckChecksum(const JsonObject& root, const Profile& profile) {
  PARTITA_ASSIGN_OR_RETURN(const std::string stated, root.String("checksum"));
  const std::string found = ProfileHash(profile);
  if (stated == found) return absl::OkStatus();
  return root.Error("checksum", "measurements that were changed or damaged",
                    "the file as it was written; restore it, or measure again "
                    "with `partita profile`");
}

std::string HostJson(const ProfileHost& host) {
  return absl::StrCat("{\"cpu\": ", JsonQuoted(host.cpu),
                      ", \"isa\": ", JsonQuoted(host.isa),
                      ", \"threads\": ", host.threads, "}");
}

std::string DeviceJson(const DeviceTraits& device) {
  return absl::StrCat("    {", KindJson(device), ", ",
                      absl::StrJoin(RatesJson(device), ", "), "}");
}

std::string NodeJson(const MeasuredNode& node) {
  std::string text = absl::StrCat(
      "    {\"signature\": ", JsonQuoted(node.signature),
      ", \"op\": ", JsonQuoted(node.family.op),
      ", \"dtype\": ", JsonQuoted(DTypeName(node.family.dtype)),
      ", \"kind\": ", JsonQuoted(DeviceKindName(node.family.device)),
      ", \"kernel\": ", JsonQuoted(node.kernel),
      ", \"version\": ", JsonQuoted(node.version),
      node.fallback ? ", \"fallback\": true" : "",
      ", \"roofline\": ", JsonNumber(node.roofline));
  if (node.warm) absl::StrAppend(&text, ", \"warm\": ", JsonNumber(*node.warm));
  if (node.cold) absl::StrAppend(&text, ", \"cold\": ", JsonNumber(*node.cold));
  if (node.in_steps) {
    absl::StrAppend(&text,
                    ", \"in_steps\": ", JsonNumber(node.in_steps->seconds),
                    ", \"steps\": ", node.in_steps->steps);
  }
  return text + "}";
}

std::string LinkJson(const MeasuredLink& link) {
  return absl::StrCat("    {\"from\": ", JsonQuoted(link.from),
                      ", \"to\": ", JsonQuoted(link.to), ", ",
                      TransferFiguresJson(link.bandwidth, link.latency),
                      LinkCollectivesJson(link.collectives), "}");
}

// All that the checksum covers.
std::string Measurements(const Profile& profile) {
  std::string of_host;
  if (profile.wake_seconds.has_value()) {
    absl::StrAppend(&of_host,
                    ",\n  \"wake\": ", JsonNumber(*profile.wake_seconds));
  }
  if (profile.copies.has_value()) {
    absl::StrAppend(
        &of_host, ",\n  \"copies\": {",
        TransferFiguresJson(profile.copies->bandwidth, profile.copies->latency),
        "}");
  }
  if (profile.cache_bytes.has_value()) {
    absl::StrAppend(&of_host, ",\n  \"cache\": ", *profile.cache_bytes);
  }
  return absl::StrCat(
      "  \"host\": ", HostJson(profile.host), of_host,
      ",\n  \"devices\": ", JsonList(profile.devices, DeviceJson),
      ",\n  \"nodes\": ", JsonList(profile.nodes, NodeJson),
      ",\n  \"links\": ", JsonList(profile.links, LinkJson));
}

std::string HashOf(absl::string_view text) {
  return HashBytes(
             absl::MakeConstSpan(
                 reinterpret_cast<const std::byte*>(text.data()), text.size()))
      .ToString();
}

absl::Status TooMuch(const std::string& path, absl::string_view found,
                     absl::string_view expected) {
  return absl::ResourceExhaustedError(
      absl::StrCat(path, ": found ", found, "; expected at most ", expected,
                   "; name a new file, and measure fewer models into it"));
}

}  // namespace

absl::StatusOr<Profile> ParseProfile(absl::string_view json,
                                     absl::string_view source) {
  const absl::StatusOr<JsonDocument> document =
      JsonDocument::Parse(json, source);
  if (!document.ok()) return Damaged(document.status());
  PARTITA_ASSIGN_OR_RETURN(const JsonObject root, document->Root());
  PARTITA_RETURN_IF_ERROR(CheckFormat(root));
  PARTITA_RETURN_IF_ERROR(
      root.AllowKeys({"format", "checksum", "host", "wake", "copies", "cache",
                      "devices", "nodes", "links"}));
  Profile profile;
  PARTITA_ASSIGN_OR_RETURN(const JsonObject host, root.Object("host"));
  PARTITA_ASSIGN_OR_RETURN(profile.host, ReadHost(host));
  // In the range of the machine file's key: plans note the machine.
  if (root.Has("wake")) {
    PARTITA_ASSIGN_OR_RETURN(profile.wake_seconds,
                             root.Number("wake", 0, kMaxSeconds));
  }
  if (root.Has("copies")) {
    PARTITA_ASSIGN_OR_RETURN(const JsonObject copies, root.Object("copies"));
    PARTITA_ASSIGN_OR_RETURN(profile.copies, ReadCopies(copies));
  }
  if (root.Has("cache")) {
    PARTITA_ASSIGN_OR_RETURN(profile.cache_bytes,
                             root.Integer("cache", 1, kMaxCacheBytes));
  }
  PARTITA_RETURN_IF_ERROR(
      ReadList(root, "devices", 1, kMaxDevices, ReadDevice, profile.devices));
  PARTITA_RETURN_IF_ERROR(
      ReadList(root, "nodes", 0, kMostMeasuredNodes, ReadNode, profile.nodes));
  PARTITA_RETURN_IF_ERROR(
      ReadList(root, "links", 0, kMostMeasuredLinks, ReadLink, profile.links));
  PARTITA_RETURN_IF_ERROR(CheckOrder(root, profile));
  PARTITA_RETURN_IF_ERROR(CheckChecksum(root, profile));
  return profile;
}

absl::StatusOr<Profile> ReadProfile(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(absl::StrCat(
        file.status().message(),
        ", or measure one with `partita profile --output ", path, "`"));
  }
  PARTITA_RETURN_IF_ERROR(file.status());
  const absl::Span<const std::byte> bytes = (*file)->bytes();
  return ParseProfile(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

std::string ProfileToJson(const Profile& profile) {
  const std::string measurements = Measurements(profile);
  return absl::StrCat("{\n  \"format\": ", kProfileFormat,
                      ",\n  \"checksum\": \"", HashOf(measurements), "\",\n",
                      measurements, "\n}\n");
}

std::string ProfileHash(const Profile& profile) {
  return HashOf(Measurements(profile));
}

absl::Status WriteProfile(const Profile& profile, const std::string& path) {
  if (profile.nodes.size() > kMostMeasuredNodes) {
    return TooMuch(path, absl::StrCat(profile.nodes.size(), " measured nodes"),
                   absl::StrCat(kMostMeasuredNodes));
  }
  if (profile.links.size() > kMostMeasuredLinks) {
    return TooMuch(path, absl::StrCat(profile.links.size(), " measured links"),
                   absl::StrCat(kMostMeasuredLinks));
  }
  const std::string text = ProfileToJson(profile);
  if (text.size() > kMaxJsonBytes) {
    return TooMuch(path, absl::StrCat(text.size(), " bytes"),
                   absl::StrCat(kMaxJsonBytes));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                           AtomicFile::Create(path));
  PARTITA_RETURN_IF_ERROR(file->WriteText(text));
  return file->Commit();
}

}  // namespace partita
