// The list of kernel libraries: the only place that names them all.
// SPDX-License-Identifier: Apache-2.0

#include "partita/kernel_libraries.h"

#include "kernels/cpu/onednn_kernels.h"
#include "kernels/reference/reference_kernels.h"

namespace partita {

const KernelLibraries& HostLibraries() {
  static const OnednnLibrary onednn;
  static const ReferenceLibrary reference;
  static const KernelLibraries libraries = {&onednn, &reference};
  return libraries;
}

}  // namespace partita
