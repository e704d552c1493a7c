// The list of all kernels in the program.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_kernels.h"

#include <memory>

#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/cost_only/cost_only_catalog.h"
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

}  // namespace

void AddHostCatalogs(JoinedCatalog& catalog) {
  const auto onednn = std::make_shared<OnednnCatalog>();
  const auto cpu = std::make_shared<CpuCatalog>();
  const UpcastCatalog::Catalogs of_f32 = {onednn, cpu};
  catalog.Add(DeviceKind::kCpu, onednn);
  catalog.Add(DeviceKind::kCpu, cpu);
  catalog.Add(DeviceKind::kCpu, std::make_shared<CodegenCatalog>());
  catalog.Add(DeviceKind::kCpu, std::make_shared<UpcastCatalog>(of_f32));
  catalog.Add(DeviceKind::kCpu, std::make_shared<ReferenceCatalog>());
  catalog.Add(DeviceKind::kCuda, std::make_shared<CostOnlyCatalog>());
}

absl::Status CheckHostCatalogs(const DeviceTraits& device) {
  return CheckOnednn(device);
}

std::vector<const KernelLibrary*> HostLibraries() {
  static const OnednnLibrary onednn;
  static const CpuLibrary cpu;
  static const NativeCodeLibrary codegen(BuildCode);
  static const UpcastLibrary upcast({&onednn, &cpu});
  static const ReferenceLibrary reference;
  static const UnfusedLibrary unfused({&codegen, &onednn, &cpu, &upcast},
                                      reference);
  return {&onednn, &cpu, &codegen, &upcast, &unfused, &reference};
}

}  // namespace partita
