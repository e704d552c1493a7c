// GPUs by the CUDA driver, which runs the plan's generated kernels.
// SPDX-License-Identifier: Apache-2.0

#include "partita/backends/cuda_backend.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "kernels/catalog/gpu_catalog.h"
#include "kernels/cuda/ptx_library.h"
#include "kernels/cuda/trusted_ptx.h"
#include "kernels/gpu/ptx_catalog.h"
#include "runtime/device/cuda/cuda_device.h"
#include "third_party/cuda_loader/process_driver.h"

namespace partita {
namespace {

// Code that this process built may run.
class BuiltCodeCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    return GpuCatalog().Choices(node, device);
  }
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView> nodes,
      const DeviceTraits& device) const override {
    PARTITA_ASSIGN_OR_RETURN(std::vector<CodeObject> code_objects,
                             GpuCatalog().BuildCode(nodes, device));
    for (const CodeObject& code : code_objects) {
      PARTITA_RETURN_IF_ERROR(TrustPtx(code));
    }
    return code_objects;
  }
};

const KernelCatalog& CudaCatalog() {
  static const BuiltCodeCatalog& catalog = *new BuiltCodeCatalog;
  return catalog;
}

std::vector<const KernelLibrary*> CudaLibraries() {
  static const PtxLibrary& ptx = *new PtxLibrary;
  return {&ptx};
}

absl::StatusOr<std::vector<CodeObject>> BuildPtxOf(
    absl::Span<const OpView> nodes, const DeviceTraits& device) {
  return PtxCatalog().BuildCode(nodes, device);
}

// The driver compiles PTX for each later architecture.
std::string SameIsa(absl::string_view isa) { return std::string(isa); }

constexpr CodeLoader kPtx = {.is_generated = HasPtxKernel,
                             .build = BuildPtxOf,
                             .load = TrustPtx,
                             .has_code = HasPtx,
                             .executable_isa = SameIsa};

absl::StatusOr<int> NumberOf(const std::string& name) {
  int number = 0;
  if (absl::SimpleAtoi(name.substr(name.rfind(':') + 1), &number) &&
      number >= 0) {
    return number;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "device ", name,
      ": found a GPU without a number; expected a name as gpu:0; name it so in "
      "the machine file"));
}

absl::StatusOr<std::unique_ptr<Device>> NewGpu(DeviceTraits traits,
                                               GpuSplit split) {
  const absl::StatusOr<const DriverApi*> driver = ProcessDriver();
  if (!driver.ok()) {
    return absl::UnavailableError(
        absl::StrCat("device ", traits.name, ": ", driver.status().message()));
  }
  PARTITA_ASSIGN_OR_RETURN(const int number, NumberOf(traits.name));
  return NewCudaDevice(**driver, std::move(traits), number, split);
}

}  // namespace

constinit const Backend kCudaBackend = {.name = "cuda",
                                        .kind = DeviceKind::kCuda,
                                        .catalog = CudaCatalog,
                                        .libraries = CudaLibraries,
                                        .code_loader = &kPtx,
                                        .new_device = NewGpu};

}  // namespace partita
