// The kernels that a session of this program can bind.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_KERNEL_LIBRARIES_H_
#define PARTITA_PARTITA_KERNEL_LIBRARIES_H_

#include "runtime/executor/kernel_binder.h"

namespace partita {

// All libraries of this build, the fastest first and eval last. They live as
// long as the program.
const KernelLibraries& HostLibraries();

}  // namespace partita

#endif  // PARTITA_PARTITA_KERNEL_LIBRARIES_H_
