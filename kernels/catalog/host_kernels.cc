// The one list of what the program can run by itself.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_kernels.h"

#include <memory>

#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/declared/declared_catalog.h"
#include "kernels/image/image_library.h"
#include "kernels/reference/reference_kernels.h"
#include "kernels/unfused/unfused_kernels.h"
#include "kernels/widened/widened_kernels.h"

namespace partita {
namespace {

absl::Status BuildCode(const OpView& node, const DeviceTraits& device) {
  return BuildImagesOf({node}, device).status();
}

}  // namespace

void AddHostCatalogs(JoinedCatalog& catalog) {
  const auto onednn = std::make_shared<OnednnCatalog>();
  const auto cpu = std::make_shared<CpuCatalog>();
  const WidenedCatalog::Catalogs of_f32 = {onednn, cpu};
  catalog.Add(DeviceKind::kCpu, onednn);
  catalog.Add(DeviceKind::kCpu, cpu);
  catalog.Add(DeviceKind::kCpu, std::make_shared<CodegenCatalog>());
  catalog.Add(DeviceKind::kCpu, std::make_shared<WidenedCatalog>(of_f32));
  catalog.Add(DeviceKind::kCpu, std::make_shared<ReferenceCatalog>());
  catalog.Add(DeviceKind::kCuda, std::make_shared<DeclaredCatalog>());
}

absl::Status CheckHostCatalogs(const DeviceTraits& device) {
  return CheckOnednn(device);
}

std::vector<const KernelLibrary*> HostLibraries() {
  static const OnednnLibrary onednn;
  static const CpuLibrary cpu;
  static const ImageLibrary codegen(BuildCode);
  static const WidenedLibrary widened({&onednn, &cpu});
  static const ReferenceLibrary reference;
  static const UnfusedLibrary unfused({&codegen, &onednn, &cpu, &widened},
                                      reference);
  return {&onednn, &cpu, &codegen, &widened, &unfused, &reference};
}

}  // namespace partita
