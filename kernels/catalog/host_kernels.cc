// The list of all catalogs and libraries.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/host_kernels.h"

#include <memory>

#include "kernels/catalog/ieee_catalog.h"
#include "kernels/catalog/joined_catalog.h"
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

void AddCatalogs(JoinedCatalog& catalog) {
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

}  // namespace

const KernelCatalog& BuiltInCatalog() {
  static const JoinedCatalog& catalog = []() -> JoinedCatalog& {
    auto* joined = new JoinedCatalog;
    AddCatalogs(*joined);
    return *joined;
  }();
  return catalog;
}

const KernelCatalog& BuiltInIeeeCatalog() {
  static const IeeeCatalog& catalog = *new IeeeCatalog(BuiltInCatalog());
  return catalog;
}

absl::Status CheckBuiltInCatalog(const DeviceTraits& device) {
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
