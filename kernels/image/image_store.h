// The generated code that this process may run.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_IMAGE_IMAGE_STORE_H_
#define PARTITA_KERNELS_IMAGE_IMAGE_STORE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/kernel_catalog.h"
#include "kernels/codegen/program.h"

namespace partita {

// Whether this process may use the instructions of an image's target.
bool ProcessorRuns(absl::string_view target);

// Maps the image, once for all images of the same bytes and for as long as the
// process lives. It is a program: call this only for images that this process
// made, or whose plan the user trusts. An image that this processor cannot run
// is left alone. InvalidArgument if it is no shared object. Thread safe.
absl::Status TrustImage(const KernelImage& image);

// The function of a trusted image for the target; null if there is none.
// Thread safe.
ElementwiseEntry FindEntry(absl::string_view target, const std::string& name);

}  // namespace partita

#endif  // PARTITA_KERNELS_IMAGE_IMAGE_STORE_H_
