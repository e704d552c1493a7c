// Writes what a run says of itself.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

double Median(const RunReport& report) {
  return report.seconds[report.seconds.size() / 2];
}

std::string ComparisonText(const OutputComparison& output) {
  const Difference& difference = output.difference;
  return absl::StrFormat(
      "output %s: largest difference %.3g absolute, %.3g relative: %s%s\n",
      output.output, difference.absolute, difference.relative,
      difference.within ? "within tolerance" : "TOO FAR",
      difference.problem.empty() ? ""
                                 : absl::StrCat(" (", difference.problem, ")"));
}

// One line however many there are: the first few pairs, then a number.
constexpr size_t kReplacedShown = 3;

std::string ReplacedText(const std::vector<ReplacedKernel>& replaced) {
  std::vector<std::string> pairs;
  for (const ReplacedKernel& pair : replaced) {
    if (pairs.size() == kReplacedShown) {
      pairs.push_back(
          absl::StrCat(replaced.size() - kReplacedShown, " more such pairs"));
      break;
    }
    pairs.push_back(
        absl::StrCat(CountText(pair.commands, "command"), " by ", pair.bound,
                     " (", pair.bound_arithmetic, ") instead of ", pair.planned,
                     pair.planned_arithmetic.empty()
                         ? ""
                         : absl::StrCat(" (", pair.planned_arithmetic, ")")));
  }
  return absl::StrCat(
      "results may differ in rounding from the plan's machine: ",
      absl::StrJoin(pairs, ", "),
      "; this host's fastest kernels are in a plan that `partita compile` "
      "makes "
      "without --machine");
}

nlohmann::ordered_json ReplacedJson(
    const std::vector<ReplacedKernel>& replaced) {
  auto list = nlohmann::ordered_json::array();
  for (const ReplacedKernel& pair : replaced) {
    list.push_back({{"commands", pair.commands},
                    {"bound", pair.bound},
                    {"bound_arithmetic", pair.bound_arithmetic},
                    {"planned", pair.planned},
                    {"planned_arithmetic", pair.planned_arithmetic}});
  }
  return list;
}

}  // namespace

std::string RunText(const RunReport& report) {
  std::string text;
  if (!report.notice.empty()) {
    absl::StrAppend(&text, "note: ", report.notice, "\n");
  }
  if (!report.replaced_kernels.empty()) {
    absl::StrAppend(&text, "note: ", ReplacedText(report.replaced_kernels),
                    "\n");
  }
  absl::StrAppend(&text, "ran ", CountText(report.seconds.size(), "step"),
                  ", median ", SecondsText(Median(report)),
                  report.on_virtual_devices
                      ? " on virtual devices: threads of this host, whose "
                        "times are not those of the plan's machine\n"
                      : "\n");
  for (const DeviceMemory& use : report.memory) {
    absl::StrAppend(&text, "  ", use.device, " arena ", use.arena,
                    " bytes, as the plan states\n");
  }
  if (report.has_reference) {
    absl::StrAppend(&text, "every output ",
                    report.updates_variables ? "and updated variable " : "",
                    report.seconds.size() > 1 ? "of every step " : "",
                    "equals the plan's reference bit for bit\n");
  }
  for (const OutputComparison& output : report.outputs) {
    text += ComparisonText(output);
  }
  return text;
}

std::string RunJson(const RunReport& report) {
  using Json = nlohmann::ordered_json;
  Json memory = Json::object(), outputs = Json::object();
  for (const DeviceMemory& use : report.memory) {
    memory[use.device] = {{"arena", use.arena}};
  }
  for (const OutputComparison& output : report.outputs) {
    outputs[output.output] = {{"absolute", output.difference.absolute},
                              {"relative", output.difference.relative},
                              {"within", output.difference.within},
                              {"problem", output.difference.problem}};
  }
  const Json json = {
      {"notice", report.notice},
      {"replaced_kernels", ReplacedJson(report.replaced_kernels)},
      {"on_virtual_devices", report.on_virtual_devices},
      {"steps", report.seconds.size()},
      {"median_seconds", Median(report)},
      {"memory", memory},
      {"equals_reference", report.has_reference ? Json(true) : Json()},
      {"outputs", outputs}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace partita
