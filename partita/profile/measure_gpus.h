// Measures what a machine file states of the GPUs of this host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_GPUS_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "partita/profile/measure_machine.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"

namespace partita {

// Bytes of a GPU that are in use outside arenas, by all processes, as its
// driver reports them.
struct MeasuredReserve {
  std::string device;
  int64_t context = 0;  // with a context and a stream of this process
  int64_t code = 0;     // and with the code, streams and graph of a plan
};

struct GpuMeasurements {
  std::vector<MeasuredReserve> reserves;
  std::vector<MeasuredLink> links;
  int left = 0;  // reserves and links that were not measured in time
  std::vector<std::string> skipped;  // why others were not, each reason once
};

// Measures, within the time budget, in this order:
//  1. `reserve` of each device with memory of its own;
//  2. the links that have such a device at an end, by copies
//     (measure_copies.h).
// A measurement that began is finished; each takes seconds at most.
// FailedPrecondition if the machine has no such device, or none of them is
// here; InvalidArgument for a budget of 0.
absl::StatusOr<GpuMeasurements> MeasureGpus(const Machine& machine,
                                            const MeasureOptions& options);

// Writes them into the machine: `reserve`, in whole MiB; `bandwidth` and
// `latency` of links.
void UseMeasurements(const GpuMeasurements& measured, Machine& machine);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_GPUS_H_
