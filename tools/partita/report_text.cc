// Writes the compile report.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/report_text.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op_view.h"
#include "placement/machine/byte_size.h"

namespace partita {
namespace {

// Neighbouring nodes of one device, for the summary: "%conv1 .. %relu_8".
struct Run {
  std::string device;
  std::string first;
  std::string last;
  std::string reason;
  int nodes = 0;
};

std::string ResultName(const OpView& op) {
  const std::string& name = op.result(0).name();
  return absl::StrCat(
      "%", name.empty() ? absl::StrCat(op.result(0).id().index) : name);
}

// The nodes that are computed, in order, joined while the device stays.
std::vector<Run> RunsOf(const Entry& entry, const EntryNotes& notes) {
  const Graph& graph = *entry.graph;
  std::vector<std::string> reasons(graph.node_id_bound());
  for (const NodeNote& note : notes.nodes) {
    reasons[note.node.index] = note.reason;
  }
  std::vector<Run> runs;
  for (OpView op : graph.ops()) {
    if (!op.node().kernel.has_value()) continue;
    const std::string device = absl::StrJoin(op.node().placement.devices, ",");
    if (runs.empty() || runs.back().device != device) {
      runs.push_back({device, ResultName(op), "", "", 0});
    }
    Run& run = runs.back();
    run.last = ResultName(op);
    if (run.reason.empty()) run.reason = reasons[op.id().index];
    ++run.nodes;
  }
  return runs;
}

constexpr size_t kMaxRuns = 8;

std::string RunsText(const std::vector<Run>& runs) {
  std::string text;
  for (size_t i = 0; i < runs.size() && i < kMaxRuns; ++i) {
    const Run& run = runs[i];
    absl::StrAppendFormat(&text, "  %-8s %4d nodes  %s .. %s", run.device,
                          run.nodes, run.first, run.last);
    if (!run.reason.empty()) absl::StrAppend(&text, "  because ", run.reason);
    text.push_back('\n');
  }
  if (runs.size() > kMaxRuns) {
    absl::StrAppend(&text, "  and ", runs.size() - kMaxRuns,
                    " more changes of device\n");
  }
  return text;
}

// Every entry, by name where there are several.
std::string EntriesText(const Plan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const Entry& entry = plan.entries[i];
    if (plan.entries.size() > 1) absl::StrAppend(&text, "@", entry.name, "\n");
    absl::StrAppend(&text, RunsText(RunsOf(entry, plan.notes->entries[i])));
  }
  return text;
}

std::string DeviceText(const DeviceUse& use) {
  return absl::StrFormat(
      "  %-8s arena %s of %s (%.0f %%), %s of it weights; order allows %s; "
      "busy %s\n",
      use.device, RoundedByteSize(use.arena), RoundedByteSize(use.memory),
      use.memory == 0 ? 0.0 : 100.0 * use.arena / use.memory,
      RoundedByteSize(use.persistent), RoundedByteSize(use.bound),
      SecondsText(use.busy_seconds));
}

std::string CandidatesText(const CompileReport& report) {
  std::string text;
  for (const Candidate& candidate : report.candidates) {
    if (candidate.refusal.empty()) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", candidate.strategy, " ",
                      SecondsText(candidate.step_seconds));
    } else {
      absl::StrAppend(&text, text.empty() ? "" : ", ", candidate.strategy,
                      " refused");
    }
  }
  return text;
}

// Nothing of a plan without constants.
std::string WeightsText(const WrittenWeights& written) {
  if (written.embedded == 0 && written.referenced == 0) return "";
  return absl::StrCat(
      "weights ", RoundedByteSize(written.embedded), " in the plan file, ",
      RoundedByteSize(written.referenced), " left in the model's files\n");
}

}  // namespace

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

std::string CompileSummary(const Compiled& compiled,
                           const std::optional<WrittenWeights>& written) {
  const CompileReport& report = compiled.report;
  std::string text = absl::StrCat("placement @", compiled.plan.name, " by ",
                                  report.strategy, "\n");
  absl::StrAppend(&text, EntriesText(compiled.plan));
  absl::StrAppend(&text, "memory\n");
  for (const DeviceUse& use : report.devices) {
    absl::StrAppend(&text, DeviceText(use));
  }
  absl::StrAppend(&text, "transfers ", report.copies, " a step, ",
                  RoundedByteSize(report.copied_bytes), "\n");
  absl::StrAppend(&text, "predicted step ", SecondsText(report.step_seconds),
                  "; no plan for this machine takes less than ",
                  SecondsText(report.bound_seconds), "\n");
  if (report.candidates.size() > 1) {
    absl::StrAppend(&text, "tried ", CandidatesText(report), "\n");
  }
  if (!report.fallbacks.empty()) {
    absl::StrAppend(
        &text, "slow ", report.fallbacks.size(),
        " nodes have no fast kernel and run by eval: ",
        absl::StrJoin(report.fallbacks.begin(),
                      report.fallbacks.begin() +
                          std::min<size_t>(report.fallbacks.size(), 5),
                      ", "),
        report.fallbacks.size() > 5 ? ", ..." : "", "\n");
  }
  for (const std::string& pin : report.idle_pins) {
    absl::StrAppend(&text, "pin ", pin,
                    " places nothing: its nodes were folded, or do nothing, or "
                    "nobody reads them\n");
  }
  if (written.has_value()) absl::StrAppend(&text, WeightsText(*written));
  if (compiled.plan.certificate.has_value()) {
    absl::StrAppend(&text, "proved ",
                    absl::StrJoin(compiled.plan.certificate->proved, "; "),
                    "\n");
  }
  return text;
}

std::string CompileJson(const Compiled& compiled,
                        const std::optional<WrittenWeights>& written) {
  const CompileReport& report = compiled.report;
  nlohmann::ordered_json json;
  json["strategy"] = report.strategy;
  json["step_seconds"] = report.step_seconds;
  json["bound_seconds"] = report.bound_seconds;
  json["copies"] = report.copies;
  json["copied_bytes"] = report.copied_bytes;
  for (const DeviceUse& use : report.devices) {
    json["devices"].push_back({{"device", use.device},
                               {"arena_bytes", use.arena},
                               {"bound_bytes", use.bound},
                               {"persistent_bytes", use.persistent},
                               {"memory_bytes", use.memory},
                               {"nodes", use.nodes},
                               {"busy_seconds", use.busy_seconds}});
  }
  for (const Candidate& candidate : report.candidates) {
    json["candidates"].push_back({{"strategy", candidate.strategy},
                                  {"step_seconds", candidate.step_seconds},
                                  {"refusal", candidate.refusal}});
  }
  for (const StageTime& stage : report.stages) {
    json["stages"].push_back(
        {{"stage", stage.stage}, {"seconds", stage.seconds}});
  }
  json["fallbacks"] = report.fallbacks;
  json["idle_pins"] = report.idle_pins;
  if (written.has_value()) {
    json["weights"] = {{"embedded_bytes", written->embedded},
                       {"referenced_bytes", written->referenced}};
  }
  return json.dump(2) + "\n";
}

}  // namespace partita
