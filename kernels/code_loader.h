// How this process comes to run the generated code of a kind of device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODE_LOADER_H_
#define PARTITA_KERNELS_CODE_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"

namespace partita {

// Thread safety: all functions may run in parallel.
struct CodeLoader {
  // True if the node is bound to a kernel whose code is generated.
  bool (*is_generated)(const OpView& node);
  // Builds the code of such nodes (KernelCatalog::BuildCode).
  absl::StatusOr<std::vector<CodeObject>> (*build)(
      absl::Span<const OpView> nodes, const DeviceTraits& device);
  // Makes this process run the code object, which is a program that no checker
  // proves: native code and PTX alike can write any memory of the process. Call
  // it only for code that this process made, or whose plan the user trusts. It
  // ignores code that no device here can run.
  absl::Status (*load)(const CodeObject& code);
  // True if code that computes the node on the device is loaded.
  bool (*has_code)(const OpView& node, const DeviceTraits& device);
  // The instruction set for which to build code for a device of `isa`: another
  // one if an emulator lacks it.
  std::string (*executable_isa)(absl::string_view isa);
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODE_LOADER_H_
