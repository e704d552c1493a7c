// The PTX that this process may run.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CUDA_TRUSTED_PTX_H_
#define PARTITA_KERNELS_CUDA_TRUSTED_PTX_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/kernel_catalog.h"
#include "third_party/cuda_loader/driver_handles.h"

namespace partita {

// Keeps the code object until the end of the process, once for all with the
// same bytes. It is a program that can write any memory of a GPU: call this
// only for code that this process made, or whose plan the user trusts. Code of
// other targets than PTX is ignored. Thread safe.
absl::Status TrustPtx(const CodeObject& code);

// True if a trusted text for the target has the kernel, and no driver has
// refused that text since it was trusted last. Thread safe.
bool HasTrustedPtx(absl::string_view target, absl::string_view kernel);

// A kernel in the driver; its text stays loaded as long as one of its kernels
// exists.
struct LoadedPtx {
  std::shared_ptr<const OwnedLibrary> library;
  CUfunction function = nullptr;  // of the context that was current
};

struct PtxEntry {
  std::string name;
  size_t addresses = 0;  // its parameters, 8 bytes each
};

// Loads the kernel of a trusted text completely, for the calling thread's
// current context, so that no launch compiles: of `own`, if that is trusted and
// has it, else of any text that no driver has refused. NotFound if there is
// none. InvalidArgument if the driver refuses the text, with the kernel's name
// and the line and words of the driver's compiler, or if the kernel has other
// parameters: a launch would read beyond those that it is given. Then the text
// counts as refused. Any other error of the driver, such as a lack of memory or
// a context that has ended, leaves the text as it was. Thread safe.
absl::StatusOr<LoadedPtx> LoadPtx(const DriverApi& api,
                                  absl::string_view target,
                                  const PtxEntry& kernel,
                                  const CodeObject* own = nullptr);

}  // namespace partita

#endif  // PARTITA_KERNELS_CUDA_TRUSTED_PTX_H_
