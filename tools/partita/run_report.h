// The report of a run, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_REPORT_H_
#define PARTITA_TOOLS_PARTITA_RUN_REPORT_H_

#include <string>
#include <vector>

#include "runtime/executor/session_report.h"
#include "tools/partita/compare.h"

namespace partita {

struct OutputComparison {
  std::string output;
  Difference difference;
};

struct RunReport {
  std::string notice;  // of the session; may be empty
  std::vector<ReplacedKernel> replaced_kernels;
  // Nodes that the plan leaves to a library's reference implementation, with
  // the kernel: "matmul %y by onednn.matmul".
  std::vector<std::string> slow_nodes;
  bool on_virtual_devices = false;
  std::vector<double> seconds;  // of each step, ascending, at least one
  std::vector<DeviceMemory> memory;
  std::vector<StepLaunches> launches;     // of the entry that runs, if any
  bool has_reference = false;             // every step had its bits
  bool updates_variables = false;         // which were compared too
  std::vector<OutputComparison> outputs;  // with test data, if there are any
};

std::string RunText(const RunReport& report);
std::string RunJson(const RunReport& report);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_REPORT_H_
