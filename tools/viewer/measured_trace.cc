// Reads Chrome's format strictly, and finds the trace's entry.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/measured_trace.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/status_macros.h"
#include "nlohmann/json.hpp"
#include "runtime/plan/chrome_trace.h"

namespace partita {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr double kMaxMicroseconds = 1e15;

struct Span {
  int64_t process = 0;
  int64_t thread = 0;
  CommandId command;
  std::string kind;
  double start = 0;
  double end = 0;
};

struct RawTrace {
  std::map<int64_t, std::string> processes;
  std::map<std::pair<int64_t, int64_t>, std::string> threads;
  std::set<int64_t> emulated;  // processes
  std::vector<Span> spans;
};

class TraceReader {
 public:
  explicit TraceReader(absl::string_view source) : source_(source) {}

  absl::StatusOr<RawTrace> Read(absl::string_view text) {
    if (text.size() > kMaxBytes) {
      return Bad(absl::StrCat(text.size(), " bytes"), "256 MiB at most");
    }
    const Json json = Json::parse(text.begin(), text.end(), nullptr,
                                  /*allow_exceptions=*/false);
    if (json.is_discarded()) return Bad("no JSON", "a trace as JSON");
    if (!json.is_object() || !json.contains("traceEvents") ||
        !json["traceEvents"].is_array()) {
      return Bad("no list traceEvents", "a trace in Chrome's format");
    }
    for (const Json& event : json["traceEvents"]) {
      PARTITA_RETURN_IF_ERROR(ReadEvent(event));
      ++index_;
    }
    return std::move(trace_);
  }

 private:
  absl::Status Bad(absl::string_view found, absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(source_, ": found ", found, "; expected ", expected,
                     "; write it with `partita run --trace`"));
  }
  absl::Status BadEvent(absl::string_view key,
                        absl::string_view expected) const {
    return Bad(absl::StrCat("event ", index_, " with another \"", key, "\""),
               expected);
  }

  absl::Status ReadEvent(const Json& event) {
    const std::optional<std::string> phase = Text(event, "ph");
    if (!phase.has_value()) return BadEvent("ph", "a letter");
    if (*phase == "C") return absl::OkStatus();
    const std::optional<int64_t> process = Integer(event, "pid");
    if (!process.has_value()) return BadEvent("pid", "a number");
    if (*phase == "M") return ReadName(event, *process);
    if (*phase == "X") return ReadSpan(event, *process);
    return BadEvent("ph", "M, X or C");
  }

  absl::Status ReadName(const Json& event, int64_t process) {
    const std::optional<std::string> what = Text(event, "name");
    if (!what.has_value()) return BadEvent("name", "a text");
    if (*what == "process_labels") return ReadLabels(event, process);
    const std::optional<std::string> name =
        event.contains("args") ? Text(event["args"], "name") : std::nullopt;
    if (!name.has_value()) return BadEvent("args", "a name");
    if (*what == "process_name") {
      trace_.processes[process] = *name;
    } else if (*what == "thread_name") {
      const std::optional<int64_t> thread = Integer(event, "tid");
      if (!thread.has_value()) return BadEvent("tid", "a number");
      trace_.threads[{process, *thread}] = *name;
    }
    return absl::OkStatus();
  }

  absl::Status ReadLabels(const Json& event, int64_t process) {
    const std::optional<std::string> labels =
        event.contains("args") ? Text(event["args"], "labels") : std::nullopt;
    if (!labels.has_value()) return BadEvent("args", "labels");
    if (*labels == kEmulatedLabel) trace_.emulated.insert(process);
    return absl::OkStatus();
  }

  absl::Status ReadSpan(const Json& event, int64_t process) {
    const std::optional<int64_t> thread = Integer(event, "tid");
    if (!thread.has_value()) return BadEvent("tid", "a number");
    const std::optional<std::string> kind = Text(event, "cat");
    if (!kind.has_value()) return BadEvent("cat", "the command's kind");
    const std::optional<double> start = Microseconds(event, "ts");
    if (!start.has_value()) return BadEvent("ts", "microseconds");
    const std::optional<double> length = Microseconds(event, "dur");
    if (!length.has_value()) return BadEvent("dur", "microseconds");
    const std::optional<std::string> number =
        event.contains("args") ? Text(event["args"], "command") : std::nullopt;
    int command = 0;
    if (!number.has_value() || !absl::SimpleAtoi(*number, &command)) {
      return BadEvent("args", "the command's number");
    }
    trace_.spans.push_back({process, *thread, CommandId(command), *kind,
                            *start * 1e-6, (*start + *length) * 1e-6});
    return absl::OkStatus();
  }

  static std::optional<std::string> Text(const Json& object, const char* key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  }
  static std::optional<int64_t> Integer(const Json& object, const char* key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) {
      return std::nullopt;
    }
    return found->get<int64_t>();
  }
  static std::optional<double> Microseconds(const Json& object,
                                            const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    const double value = found->get<double>();
    if (!(value >= 0 && value <= kMaxMicroseconds)) return std::nullopt;
    return value;
  }

  const absl::string_view source_;
  size_t index_ = 0;
  RawTrace trace_;
};

// Of a process of a measured trace.
absl::string_view DeviceOf(absl::string_view process) {
  return absl::StripSuffix(process, " (measured)");
}

std::vector<std::string> EmulatedDevices(const RawTrace& trace) {
  std::set<std::string> names;
  for (const auto& [process, name] : trace.processes) {
    if (trace.emulated.contains(process)) names.emplace(DeviceOf(name));
  }
  return {names.begin(), names.end()};
}

// "" or the reason why the trace does not match the entry.
std::string Mismatch(const RawTrace& trace, const PlanView& plan,
                     const ViewedEntry& entry, MeasuredTrace& measured) {
  const size_t commands = entry.commands.size() + entry.commands_left_out;
  if (trace.spans.size() != commands) {
    return absl::StrCat(trace.spans.size(), " spans for ", commands,
                        " commands");
  }
  measured.commands = IdVector<CommandId, std::pair<double, double>>(
      entry.commands.size(), {-1, -1});
  for (const Span& span : trace.spans) {
    const CommandId id = span.command;
    if (!id.valid() || static_cast<size_t>(id.index) >= commands) {
      return absl::StrCat("command ", id.index);
    }
    measured.end = std::max(measured.end, span.end);
    if (static_cast<size_t>(id.index) >= entry.commands.size()) continue;
    const CommandView& command = entry.commands[id];
    const StreamView& stream = entry.streams[command.stream];
    const auto process = trace.processes.find(span.process);
    const auto thread = trace.threads.find({span.process, span.thread});
    if (span.kind != command.kind || process == trace.processes.end() ||
        thread == trace.threads.end() || thread->second != stream.name ||
        DeviceOf(process->second) != plan.devices[stream.device].name) {
      return absl::StrCat("command ", id.index,
                          " of another kind, stream or device");
    }
    if (measured.commands[id].first >= 0) {
      return absl::StrCat("command ", id.index, " twice");
    }
    measured.commands[id] = {span.start, span.end};
  }
  return "";
}

}  // namespace

absl::StatusOr<MeasuredTrace> ReadMeasuredTrace(absl::string_view json,
                                                absl::string_view source,
                                                const PlanView& plan) {
  PARTITA_ASSIGN_OR_RETURN(const RawTrace trace,
                           TraceReader(source).Read(json));
  std::string mismatch = "no entry in the plan";
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    MeasuredTrace measured;
    measured.source = std::string(source);
    measured.entry = static_cast<int>(e);
    measured.emulated = EmulatedDevices(trace);
    mismatch = Mismatch(trace, plan, plan.entries[e], measured);
    if (mismatch.empty()) return measured;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      source, ": found ", mismatch, "; expected a measured step of plan @",
      plan.name, "; run this plan with --trace"));
}

}  // namespace partita
