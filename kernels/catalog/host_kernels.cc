// The list of the host's catalogs and libraries.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_kernels.h"

#include <memory>

#include "kernels/catalog/joined_catalog.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/reference/reference_kernels.h"
#include "kernels/unfused/unfused_kernels.h"
#include "kernels/upcast/upcast_kernels.h"

namespace partita {
namespace {

absl::Status BuildCode(const OpView& node, const DeviceTraits& device) {
  return BuildCodeOf({node}, device).status();
}

JoinedCatalog::Catalogs HostCatalogs() {
  const auto onednn = std::make_shared<OnednnCatalog>();
  const auto cpu = std::make_shared<CpuCatalog>();
  const UpcastCatalog::Catalogs of_f32 = {onednn, cpu};
  return {onednn, cpu, std::make_shared<CodegenCatalog>(),
          std::make_shared<UpcastCatalog>(of_f32),
          std::make_shared<ReferenceCatalog>()};
}

}  // namespace

const KernelCatalog& HostCatalog() {
  static const JoinedCatalog& catalog = *new JoinedCatalog(HostCatalogs());
  return catalog;
}

absl::Status CheckHostCatalog(const DeviceTraits& device) {
  return CheckOnednn(device);
}

std::vector<const KernelLibrary*> HostLibraries() {
  static const auto& onednn = *new OnednnLibrary;
  static const auto& cpu = *new CpuLibrary;
  static const auto& codegen = *new NativeCodeLibrary(BuildCode);
  static const auto& upcast = *new UpcastLibrary({&onednn, &cpu});
  static const auto& reference = *new ReferenceLibrary;
  static const auto& unfused =
      *new UnfusedLibrary({&codegen, &onednn, &cpu, &upcast}, reference);
  return {&onednn, &cpu, &codegen, &upcast, &unfused, &reference};
}

}  // namespace partita
