// Whether a plan or a model fits a machine, and with how much room.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLAN_FIT_H_
#define PARTITA_PARTITA_PLAN_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

struct DeviceFit {
  std::string device;
  // Bytes that the arena needs; nothing if that is not known, as another device
  // was refused before.
  std::optional<int64_t> needed;
  int64_t usable = 0;  // bytes that arenas may take: memory without the reserve
  int64_t margin() const { return usable - needed.value_or(0); }  // may be < 0
  // The share of the usable bytes that is left, or missing, in per cent.
  double margin_percent() const;
  bool fits() const { return margin() >= 0; }
};

struct PlanFit {
  std::string machine;
  std::vector<DeviceFit> devices;  // of the machine
  // Why it does not fit, besides bytes that a device lacks: a device, a link or
  // a kernel is missing.
  std::vector<std::string> faults;
  bool fits() const;
};

// Compares a plan's devices, by name, with those of a machine: kind, memory,
// and whether the machine has a kernel for each node and a link for each
// transfer. Errors for a plan that no machine could run.
absl::StatusOr<PlanFit> FitPlan(const Plan& plan, const Machine& machine);

// Plans the model as Compile does, without native code and proof. What does not
// fit is no error. Errors: those of the model and of the options.
absl::StatusOr<PlanFit> FitModel(Module model, const Machine& machine,
                                 const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLAN_FIT_H_
