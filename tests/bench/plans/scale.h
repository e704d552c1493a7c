// Compilations whose seconds and memory show how planning grows with nodes and
// devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_PLANS_SCALE_H_
#define PARTITA_TESTS_BENCH_PLANS_SCALE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/plans/row_bench.h"

namespace partita {

enum class ScaleModel : uint8_t { kInference, kTraining };
enum class ScaleDevices : uint8_t { kCpus, kGpus };  // GPUs beside one CPU

struct ScaleCase {
  // "training/pipeline/7208_nodes/8_cpus/16_micro_batches", with "/simulated"
  // if it is.
  std::string key() const;

  ScaleModel model = ScaleModel::kInference;
  std::string strategy;
  int nodes = 0;  // at least; the row has the exact number
  int devices = 0;
  ScaleDevices kind = ScaleDevices::kCpus;
  int micro_batches = 1;
  bool is_simulated = false;  // and proved, each timed on its own
};

// Inference and training steps by several strategies: series of sizes, and of
// numbers of devices; and a plan of about a million commands.
std::vector<ScaleCase> ScaleCases();

struct ScaleRun {
  int limit_seconds = 600;     // then the process is ended
  bool prints_stages = false;  // the seconds of each stage, to stderr
};

// Compiles in a process of its own, so that the peak memory is that of this
// case alone. A case that fails says why.
inline const RowCells kScaleColumns = {
    "model",         "strategy", "nodes",     "devices",    "device kind",
    "micro-batches", "commands", "compile s", "simulate s", "prove s",
    "peak MiB",      "host",     "failure",
};
RowCells ScaleRow(const ScaleCase& scale_case, const ScaleRun& how = {});

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_PLANS_SCALE_H_
