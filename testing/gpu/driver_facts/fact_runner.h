// Runs facts in processes with deadlines: none can hang or spoil another.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_RUNNER_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_RUNNER_H_

#include <string>
#include <vector>

#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/rows.h"

namespace partita {

struct FactOptions {
  std::string program;       // this program's file: it starts itself again
  std::string libraries;     // the folder of libcuda.so.1; empty: the system's
  double row_seconds = 12;   // how long one fact may take
  double all_seconds = 150;  // when the last process is ended
};

// Every fact of the group gives one row, measured or with the reason why not.
// `deadline` is on the clock of HostSeconds.
std::vector<Row> RunGroup(const FactGroup& group, const FactOptions& options,
                          double deadline);

// The other side: measures facts `first` to `last - 1` of the group and prints
// a row of JSON for each as soon as it is there. Ends early when the context is
// lost: the facts behind it are run in another process.
int RunChild(const FactGroup& group, size_t first, size_t last,
             const std::string& libraries);

// Keeps the driver initialised from one fact's process to the next, which would
// else take seconds each. Holds no context.
class DriverHolder {
 public:
  explicit DriverHolder(const FactOptions& options);
  ~DriverHolder();
  DriverHolder(const DriverHolder&) = delete;

 private:
  int child_;
};

// What its process does, until it is killed.
int HoldDriver(const std::string& libraries);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_FACT_RUNNER_H_
