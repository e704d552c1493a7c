// The report of a run, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_RUN_REPORT_H_
#define PARTITA_TOOLS_PARTITA_RUN_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/executor/session_report.h"
#include "tools/partita/compare.h"

namespace partita {

// What is known before the first step of a model that was compiled on the way.
struct RunPlanned {
  std::string entry;
  std::string strategy;
  std::string chosen_step;           // CompileReport's
  bool has_pins = false;             // CompileReport's
  std::vector<std::string> devices;  // that compute a part of the entry
  double step_seconds = 0;           // predicted for the plan's machine
  int64_t steps = 0;
  bool has_reference = false;
};

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

// "@mlp by single on cpu:0: 3 steps; predicted 142.1 us a step on the plan's
// machine", as a line.
std::string RunBeginText(const RunPlanned& planned);
std::string RunText(const RunReport& report);
std::string RunJson(const RunReport& report);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_RUN_REPORT_H_
