// Chooses the catalog and sorts the devices into classes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile_target.h"

#include "graph/node_kernels.h"

namespace partita {

CompileTarget::CompileTarget(const Machine& machine,
                             const CompileOptions& options)
    : machine_(machine), options_(options), catalog_(machine, options.ieee) {
  for (const MachineDevice& device : machine.devices) {
    traits_.push_back(device.traits);
    usable_.push_back(device.usable());
  }
  classes_ = ClassesOf(traits_);
}

bool CompileTarget::HasKernel(const OpView& fused) const {
  return RunsFused(fused, catalog(), classes_);
}

}  // namespace partita
