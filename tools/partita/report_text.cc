// Writes the compile report.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/report_text.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op_view.h"
#include "placement/machine/byte_size.h"
#include "placement/simulate/lower_bound.h"
#include "tools/partita/json_text.h"

namespace partita {
namespace {

// Consecutive nodes on one device, for the summary: "%conv1 .. %relu_8", or
// "%conv1" for one node.
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

// The computed nodes, in order, merged while the device stays the same.
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
    absl::StrAppendFormat(&text, "  %-8s %4d %-5s  %s", run.device, run.nodes,
                          run.nodes == 1 ? "node" : "nodes", run.first);
    if (run.nodes > 1) absl::StrAppend(&text, " .. ", run.last);
    if (!run.reason.empty()) absl::StrAppend(&text, "  because ", run.reason);
    text.push_back('\n');
  }
  if (runs.size() > kMaxRuns) {
    absl::StrAppend(&text, "  and ",
                    CountText(runs.size() - kMaxRuns, "more change"),
                    " of device\n");
  }
  return text;
}

std::string DeviceText(const DeviceMemoryUse& use) {
  return absl::StrFormat("  %-8s arena %s of %s (%.0f %%), %s of it weights",
                         use.device, RoundedByteSize(use.arena),
                         RoundedByteSize(use.memory),
                         use.memory == 0 ? 0.0 : 100.0 * use.arena / use.memory,
                         RoundedByteSize(use.persistent));
}

std::string UseText(const DeviceUse& use) {
  return absl::StrCat("order allows ", RoundedByteSize(use.bound), "; busy ",
                      SecondsText(use.busy_seconds), "\n");
}

std::string CollectivesText(const EntryReport& entry) {
  if (entry.collectives == 0) return "";
  return absl::StrCat("; collectives ", entry.collectives, ", ",
                      RoundedByteSize(entry.collective_bytes));
}

std::string StepText(const EntryReport& entry) {
  return absl::StrCat(
      "transfers ", entry.copies, " a step, ",
      RoundedByteSize(entry.copied_bytes), CollectivesText(entry),
      "\npredicted step ", SecondsText(entry.step_seconds),
      "; no plan for this machine takes less than ",
      BoundText(entry.step_seconds, entry.bound_seconds, entry.bound_by), "\n");
}

// Memory, with the use of the only entry.
std::string OneEntryText(const Compiled& compiled) {
  const CompileReport& report = compiled.report;
  const EntryReport& entry = report.entries[0];
  std::string text = RunsText(
      RunsOf(compiled.plan.entries[0], compiled.plan.notes->entries[0]));
  absl::StrAppend(&text, "memory\n");
  for (size_t d = 0; d < report.devices.size(); ++d) {
    absl::StrAppend(&text, DeviceText(report.devices[d]), "; ",
                    UseText(entry.devices[d]));
  }
  return text + StepText(entry);
}

// A refusal would have named the function, so its placement has that name too.
std::string HeadText(const Compiled& compiled) {
  const Plan& plan = compiled.plan;
  const CompileReport& report = compiled.report;
  return absl::StrCat(
      "placement @",
      plan.entries.size() == 1 ? plan.entries[0].name : plan.name, " by ",
      report.strategy, ChosenStepText(report.chosen_step),
      PinsText(report.strategy, report.has_pins), "\n");
}

// Each entry by name, then the memory that all share.
std::string EntriesText(const Compiled& compiled) {
  const CompileReport& report = compiled.report;
  if (report.entries.size() == 1) return OneEntryText(compiled);
  std::string text;
  for (size_t e = 0; e < report.entries.size(); ++e) {
    const EntryReport& entry = report.entries[e];
    absl::StrAppend(&text, "@", entry.name, "\n",
                    RunsText(RunsOf(compiled.plan.entries[e],
                                    compiled.plan.notes->entries[e])));
    for (size_t d = 0; d < report.devices.size(); ++d) {
      absl::StrAppendFormat(&text, "  %-8s ", report.devices[d].device);
      absl::StrAppend(&text, UseText(entry.devices[d]));
    }
    absl::StrAppend(&text, StepText(entry));
  }
  absl::StrAppend(&text, "memory\n");
  for (const DeviceMemoryUse& use : report.devices) {
    absl::StrAppend(&text, DeviceText(use), "\n");
  }
  return text;
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

// "" for a plan without constants.
std::string WeightsText(const WrittenWeights& written) {
  if (written.embedded == 0 && written.referenced == 0) return "";
  std::string why;
  if (written.misplaced > 0) {
    absl::StrAppend(
        &why, " (", RoundedByteSize(written.misplaced),
        " that are unaligned, or overlap others, in the model's files)");
  }
  if (written.outside > 0) {
    absl::StrAppend(&why, " (", RoundedByteSize(written.outside),
                    " as the model's files are outside the plan's folder; "
                    "write the plan beside or above them to leave them there)");
  }
  return absl::StrCat("weights ", RoundedByteSize(written.embedded),
                      " in the plan file", why, ", ",
                      RoundedByteSize(written.referenced),
                      " left in the model's files\n");
}

nlohmann::ordered_json EntryJson(const CompileReport& report,
                                 const EntryReport& entry) {
  nlohmann::ordered_json json = {
      {"entry", entry.name},
      {"step_seconds", entry.step_seconds},
      {"bound_seconds", entry.bound_seconds},
      {"bound_by", entry.bound_by},
      {"gap_percent", GapPercent(entry.step_seconds, entry.bound_seconds)},
      {"repeated_share", entry.repeated_share},
      {"copies", entry.copies},
      {"copied_bytes", entry.copied_bytes},
      {"collectives", entry.collectives},
      {"collective_bytes", entry.collective_bytes}};
  if (entry.sharded_updates.has_value()) {
    json["sharded_updates"] = entry.sharded_updates->sharded;
    json["updated_weights"] = entry.sharded_updates->all;
  }
  for (size_t d = 0; d < entry.devices.size(); ++d) {
    const DeviceUse& use = entry.devices[d];
    json["devices"].push_back({{"device", report.devices[d].device},
                               {"bound_bytes", use.bound},
                               {"nodes", use.nodes},
                               {"busy_seconds", use.busy_seconds}});
  }
  return json;
}

}  // namespace

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.2f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.2f ms", seconds * 1e3);
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

double GapPercent(double step_seconds, double bound_seconds) {
  return 100 * OptimalityGap(step_seconds, bound_seconds);
}

std::string BoundText(double step_seconds, double bound_seconds,
                      absl::string_view bound_by) {
  return absl::StrFormat(
      "%s%s; gap %.0f %%", SecondsText(bound_seconds),
      bound_by.empty() ? "" : absl::StrCat(" (", bound_by, ")"),
      GapPercent(step_seconds, bound_seconds));
}

namespace {

// "gpu" and 3 from "gpu:3"; -1 without a number at the end.
std::pair<absl::string_view, int> KindAndNumber(absl::string_view device) {
  const size_t colon = device.rfind(':');
  int number;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(device.substr(colon + 1), &number)) {
    return {device, -1};
  }
  return {device.substr(0, colon), number};
}

// True if they are of one kind and numbered consecutively.
bool AreInARow(const std::vector<std::string>& devices) {
  for (size_t d = 1; d < devices.size(); ++d) {
    auto [kind, number] = KindAndNumber(devices[d - 1]);
    if (number < 0) return false;
    if (KindAndNumber(devices[d]) != std::pair(kind, number + 1)) return false;
  }
  return true;
}

}  // namespace

std::string UsedDevicesText(const std::vector<std::string>& devices) {
  constexpr size_t kMost = 4;
  if (devices.empty()) return "";
  if (devices.size() == 1) return " on " + devices[0];
  if (devices.size() <= kMost) return " over " + absl::StrJoin(devices, ", ");
  if (!AreInARow(devices))
    return absl::StrCat(" over ", devices.size(), " devices");
  return absl::StrCat(" over ", devices.front(), " to ", devices.back());
}

std::vector<std::string> UsedDevices(const CompileReport& report,
                                     size_t entry) {
  const std::vector<DeviceUse>& uses = report.entries[entry].devices;
  std::vector<std::string> names;
  for (size_t d = 0; d < uses.size(); ++d) {
    if (uses[d].nodes > 0) names.push_back(report.devices[d].device);
  }
  return names;
}

std::string PinsText(absl::string_view strategy, bool has_pins) {
  return has_pins && strategy != "pinned" ? ", with pins" : "";
}

std::string ChosenStepText(absl::string_view chosen_step) {
  return chosen_step.empty() ? "" : absl::StrCat(" in ", chosen_step);
}

std::string CountText(size_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

namespace {

std::string LoopsText(const std::vector<std::string>& kernels) {
  if (kernels == std::vector<std::string>{"reference.eval"}) return "eval";
  return absl::StrCat("plain loops (", absl::StrJoin(kernels, ", "), ")");
}

}  // namespace

std::string FallbacksText(const Fallbacks& fallbacks) {
  constexpr size_t kMost = 5;
  const std::vector<std::string>& nodes = fallbacks.nodes;
  if (nodes.empty()) return "";
  const size_t named = std::min(nodes.size(), kMost);
  std::string text = absl::StrCat(
      "slow ", CountText(nodes.size(), "node"),
      " without a fast kernel, run by ", LoopsText(fallbacks.kernels),
      " in a predicted ", SecondsText(fallbacks.seconds), ": ",
      absl::StrJoin(nodes.begin(), nodes.begin() + named, ", "),
      nodes.size() > named ? ", ..." : "", "\n");
  if (!fallbacks.no_codegen.empty()) {
    absl::StrAppend(&text, "slow as there is no generated code: ",
                    fallbacks.no_codegen, "\n");
  }
  return text;
}

namespace {

std::string MissingGpuKernelsText(const MissingGpuKernels& missing) {
  constexpr size_t kMost = 5;
  const std::vector<std::string>& nodes = missing.host_nodes;
  std::string text;
  if (!nodes.empty()) {
    const size_t named = std::min(nodes.size(), kMost);
    text =
        absl::StrCat("host ", CountText(nodes.size(), "node"),
                     " that no GPU has a kernel for: ",
                     absl::StrJoin(nodes.begin(), nodes.begin() + named, ", "),
                     nodes.size() > named ? ", ..." : "", "\n");
  }
  if (missing.cost_only_nodes > 0) {
    absl::StrAppend(
        &text, "cost-only ",
        CountText(static_cast<size_t>(missing.cost_only_nodes), "node"),
        ": only emulated devices run this plan; GPUs need an isa from sm_80 "
        "on in the machine file\n");
  }
  return text;
}

}  // namespace

std::string RepeatedText(absl::string_view entry, double repeated_share) {
  constexpr double kMost = 0.5;
  if (repeated_share <= kMost) return "";
  return absl::StrFormat(
      "repeated %.0f %% of @%s's predicted kernel seconds are computed whole "
      "by each device, for nodes whose rule does not shard the batch\n",
      100 * repeated_share, entry);
}

std::string ShardedUpdatesText(absl::string_view entry,
                               const std::optional<ShardedUpdates>& updates) {
  if (!updates.has_value() || updates->all == 0) return "";
  if (updates->sharded == 0) {
    return absl::StrCat(
        "none of @", entry, "'s ", CountText(updates->all, "weight"),
        " has a sharded update; docs/guide/data_parallel.md says which can\n");
  }
  return absl::StrCat(updates->sharded, " of @", entry, "'s ",
                      CountText(updates->all, "weight"),
                      " with sharded updates\n");
}

std::string CompileSummary(const Compiled& compiled,
                           const std::optional<WrittenWeights>& written) {
  const CompileReport& report = compiled.report;
  std::string text = HeadText(compiled) + EntriesText(compiled);
  if (report.candidates.size() > 1) {
    absl::StrAppend(&text, "tried ", CandidatesText(report), "\n");
  }
  text += FallbacksText(report.fallbacks);
  text += MissingGpuKernelsText(report.missing_gpu_kernels);
  for (const EntryReport& entry : report.entries) {
    text += RepeatedText(entry.name, entry.repeated_share);
    text += ShardedUpdatesText(entry.name, entry.sharded_updates);
  }
  for (const std::string& pin : report.idle_pins) {
    absl::StrAppend(&text, "pin ", pin,
                    " has no effect: its nodes were folded or removed\n");
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
  if (!report.chosen_step.empty()) json["chosen_step"] = report.chosen_step;
  for (const DeviceMemoryUse& use : report.devices) {
    json["devices"].push_back({{"device", use.device},
                               {"arena_bytes", use.arena},
                               {"persistent_bytes", use.persistent},
                               {"memory_bytes", use.memory}});
  }
  for (const EntryReport& entry : report.entries) {
    json["entries"].push_back(EntryJson(report, entry));
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
  json["fallbacks"] = report.fallbacks.nodes;
  json["fallback_kernels"] = report.fallbacks.kernels;
  json["fallback_seconds"] = report.fallbacks.seconds;
  json["no_codegen"] = report.fallbacks.no_codegen;
  json["host_nodes"] = report.missing_gpu_kernels.host_nodes;
  json["cost_only_nodes"] = report.missing_gpu_kernels.cost_only_nodes;
  json["idle_pins"] = report.idle_pins;
  if (written.has_value()) {
    json["weights"] = {{"embedded_bytes", written->embedded},
                       {"referenced_bytes", written->referenced},
                       {"misplaced_bytes", written->misplaced},
                       {"outside_bytes", written->outside}};
  }
  return JsonText(json);
}

}  // namespace partita
