// How CPU devices share the cores of the host: the one place that simulation,
// the cost model and planners ask.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_COST_HOST_CORES_H_
#define PARTITA_PLACEMENT_COST_HOST_CORES_H_

#include "graph/device_traits.h"
#include "placement/machine/machine.h"

namespace partita {

// Each stream of a device that shares the host is a thread, and the kernels of
// a device have `threads` of them. A machine whose file names no cores
// (MachineHost) shares nothing: here all costs are then 0 and all slowdowns 1.
// Depends on the machine alone, never on the host that asks. Thread safety:
// const calls may run in parallel.
class HostCores {
 public:
  HostCores() = default;  // none that are shared
  explicit HostCores(const Machine& machine) : host_(machine.host) {}

  bool are_shared() const { return host_.cores > 0; }

  // The cores that a command keeps busy while it runs: a kernel, or feed, fetch
  // and local copy; 0 if they are not the host's.
  int OfKernel(const DeviceTraits& device) const;
  int OfLocalCopy(const DeviceTraits& device) const;
  // A copy between two devices. DMA copies to and from other devices.
  int OfCopy(const DeviceTraits& from, const DeviceTraits& to) const;
  // A rank's work for a collective, after all have arrived.
  int OfRank(const DeviceTraits& device) const { return OfLocalCopy(device); }

  // At least 1: the factor by which each of the commands that keep `busy` cores
  // busy at the same time takes longer. The system gives each thread an equal
  // share (processor sharing: Kleinrock 1967).
  double Slowdown(int busy) const;

  // The least time in which the host does so much: the sum over commands of
  // their seconds times the cores that each keeps busy.
  double LeastSeconds(double core_seconds) const;

  // Seconds from the end of a wait of `waited` seconds until the stream goes
  // on. `threads`: all that the plan's streams have. If each has a core, a
  // thread that waits polls for a while before it sleeps.
  double WakeSeconds(const DeviceTraits& device, double waited,
                     int threads) const;
  // What planners add to a transfer to the device, whose stream may wait for
  // it.
  double HandoverSeconds(const DeviceTraits& to) const;

 private:
  bool IsShared(const DeviceTraits& device) const;

  MachineHost host_;
};

// For how long a thread polls (runtime/executor/entry_runner.cc).
inline constexpr double kPollSeconds = 6e-4;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_COST_HOST_CORES_H_
