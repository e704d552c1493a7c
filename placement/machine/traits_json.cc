// Reads and writes kinds, instruction sets and rates.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/traits_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "graph/device_kind_traits.h"
#include "graph/device_limits.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

bool IsDeviceName(absl::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("_-.:", c)) return false;
  }
  return true;
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
  return object.Error("isa", ShownText(isa), ExpectedIsa(rule, isa));
}

// "\"cpu\" or \"cuda\"; did you mean cuda?"
std::string ExpectedKind(absl::string_view found) {
  const auto names = DeviceKindNames();
  const std::vector<absl::string_view> known(names.begin(), names.end());
  return absl::StrCat("\"", absl::StrJoin(known, "\" or \""), "\"",
                      DidYouMean(found, known));
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

}  // namespace

absl::StatusOr<std::string> ReadDeviceName(const JsonObject& object,
                                           absl::string_view key) {
  PARTITA_ASSIGN_OR_RETURN(std::string name, object.String(key));
  if (IsDeviceName(name)) return name;
  return object.Error(key, ShownText(name),
                      "1 to 64 letters, digits or _-.: like \"gpu:0\"");
}

absl::StatusOr<DeviceKind> ReadKind(const JsonObject& object) {
  PARTITA_ASSIGN_OR_RETURN(const std::string name, object.String("kind"));
  const std::optional<DeviceKind> kind = ParseDeviceKind(name);
  if (kind.has_value()) return *kind;
  return object.Error("kind", ShownText(name), ExpectedKind(name));
}

absl::Status ReadRates(const JsonObject& object, DeviceTraits& traits) {
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
  return absl::OkStatus();
}

absl::Status ReadTransferFigures(const JsonObject& object, double& bandwidth,
                                 double& latency) {
  PARTITA_ASSIGN_OR_RETURN(bandwidth, object.Number("bandwidth", 1, kMaxRate));
  PARTITA_ASSIGN_OR_RETURN(latency, object.Number("latency", 0, kMaxSeconds));
  return absl::OkStatus();
}

std::string KindJson(const DeviceTraits& traits) {
  return absl::StrCat("\"kind\": ", JsonQuoted(DeviceKindName(traits.kind)));
}

std::vector<std::string> RatesJson(const DeviceTraits& traits) {
  std::vector<std::string> peaks;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (traits.peak_flops[i] == 0) continue;
    peaks.push_back(absl::StrCat(JsonQuoted(DTypeName(static_cast<DType>(i))),
                                 ": ", JsonNumber(traits.peak_flops[i])));
  }
  std::vector<std::string> lines = {
      absl::StrCat("\"threads\": ", traits.threads)};
  if (!traits.isa.empty()) {
    lines.push_back(absl::StrCat("\"isa\": ", JsonQuoted(traits.isa)));
  }
  lines.push_back(
      absl::StrCat("\"peak_flops\": {", absl::StrJoin(peaks, ", "), "}"));
  lines.push_back(absl::StrCat("\"memory_bandwidth\": ",
                               JsonNumber(traits.memory_bandwidth)));
  lines.push_back(
      absl::StrCat("\"launch_seconds\": ", JsonNumber(traits.launch_seconds)));
  return lines;
}

std::string TransferFiguresJson(double bandwidth, double latency) {
  return absl::StrCat("\"bandwidth\": ", JsonNumber(bandwidth),
                      ", \"latency\": ", JsonNumber(latency));
}

std::string JsonNumber(double value) { return nlohmann::json(value).dump(); }

std::string JsonQuoted(absl::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace partita
