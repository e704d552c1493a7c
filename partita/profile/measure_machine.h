// Measures the kernels that plans of some models bind, and the machine's links.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_MEASURE_MACHINE_H_
#define PARTITA_PARTITA_PROFILE_MEASURE_MACHINE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/machine/machine.h"
#include "placement/machine/profile.h"

namespace partita {

struct MeasureOptions {
  double seconds = 60;  // the time budget; a measurement that began is finished
  // Called with what is measured next; may be empty.
  std::function<void(absl::string_view)> progress;
};

struct MachineMeasurements {
  Profile profile;
  int kernels_left = 0;  // found and not measured in time
  int links_left = 0;
  // Models without all their plans in time, so their kernels are not counted.
  int models_left = 0;
  // Why other kernels, devices and links were not measured, each reason once.
  std::vector<std::string> skipped;
};

// Measures on this host, within the time budget, in this order:
//  1. the wake-up of a thread, if the machine has a host with cores;
//  2. the links of the machine, and collectives between ends that share the
//     host, for at most a quarter of it, first those that `known` lacks;
//  3. the kernels that the models' plans bind, on each kind of device of the
//     machine (`single`), and sharded over equal ones (`data`): first those
//     that `known` lacks, and among them those with most predicted seconds in
//     a step.
// The machine must have no profile. FailedPrecondition if this host has none of
// its devices; InvalidArgument for a budget of 0.
absl::StatusOr<MachineMeasurements> MeasureMachine(
    const Machine& machine, absl::Span<const Module> models,
    const Profile& known, const MeasureOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_MEASURE_MACHINE_H_
