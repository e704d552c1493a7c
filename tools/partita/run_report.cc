// Writes the report of a run.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/partita/json_text.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/replaced_kernels.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

double Median(const RunReport& report) {
  return report.seconds[report.seconds.size() / 2];
}

std::string ComparisonText(const OutputComparison& output) {
  const Difference& difference = output.difference;
  if (!difference.problem.empty()) {
    return absl::StrCat("output ", output.output, ": ", difference.problem,
                        "\n");
  }
  return absl::StrFormat(
      "output %s: largest difference %.3g absolute, %.3g relative: %s\n",
      output.output, difference.absolute, difference.relative,
      difference.within ? "within tolerance" : "TOO FAR");
}

std::string LaunchesText(const StepLaunches& launches) {
  if (launches.graphs == 0) {
    return absl::StrCat("  GPU commands of a step: ", launches.issued,
                        " issued one by one, as ", launches.why_no_graphs,
                        "\n");
  }
  return absl::StrCat("  GPU commands of a step: ", launches.in_graphs, " in ",
                      CountText(launches.graphs, "graph"),
                      launches.issued == 0 ? ""
                                           : absl::StrCat(", ", launches.issued,
                                                          " issued one by one"),
                      "\n");
}

std::string SlowNodesText(const std::vector<std::string>& nodes) {
  if (nodes.empty()) return "";
  const size_t more = nodes.size() - 1;
  return absl::StrCat(
      "note: slow reference loops run nodes of the plan: ", nodes.front(),
      more == 0 ? "" : absl::StrCat(", and ", more, " more"), "\n");
}

}  // namespace

std::string RunBeginText(const RunPlanned& planned) {
  return absl::StrCat(
      "@", planned.entry, " by ", planned.strategy,
      ChosenStepText(planned.chosen_step), UsedDevicesText(planned.devices),
      PinsText(planned.strategy, planned.has_pins), ": ",
      CountText(planned.steps, "step"),
      planned.has_reference ? ", each also by reference" : "", "; predicted ",
      SecondsText(planned.step_seconds), " a step on the plan's machine\n");
}

std::string RunText(const RunReport& report) {
  std::string text;
  if (!report.notice.empty()) {
    absl::StrAppend(&text, "note: ", report.notice, "\n");
  }
  text += ReplacedKernelsText("compile", report.replaced_kernels);
  text += SlowNodesText(report.slow_nodes);
  absl::StrAppend(&text, "ran ", CountText(report.seconds.size(), "step"),
                  ", median ", SecondsText(Median(report)),
                  report.on_virtual_devices
                      ? " on virtual devices: threads of this host, whose "
                        "times are not those of the plan's machine\n"
                      : "\n");
  text += MemoryText(report.memory);
  for (const StepLaunches& launches : report.launches) {
    text += LaunchesText(launches);
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
  Json outputs = Json::object();
  for (const OutputComparison& output : report.outputs) {
    outputs[output.output] = {{"absolute", output.difference.absolute},
                              {"relative", output.difference.relative},
                              {"within", output.difference.within},
                              {"problem", output.difference.problem}};
  }
  Json launches = Json::array();
  for (const StepLaunches& entry : report.launches) {
    launches.push_back({{"graphs", entry.graphs},
                        {"in_graphs", entry.in_graphs},
                        {"issued", entry.issued},
                        {"why_no_graphs", entry.why_no_graphs}});
  }
  const Json json = {
      {"notice", report.notice},
      {"replaced_kernels", ReplacedKernelsJson(report.replaced_kernels)},
      {"slow_nodes", report.slow_nodes},
      {"on_virtual_devices", report.on_virtual_devices},
      {"steps", report.seconds.size()},
      {"median_seconds", Median(report)},
      {"memory", MemoryJson(report.memory)},
      {"gpu_launches", launches},
      {"equals_reference", report.has_reference ? Json(true) : Json()},
      {"outputs", outputs}};
  return JsonText(json);
}

}  // namespace partita
