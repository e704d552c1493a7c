// The table of the kinds of devices.
// SPDX-License-Identifier: Apache-2.0

#include "graph/device_kind_traits.h"

#include <cstddef>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/host_capacity.h"

namespace partita {
namespace {

bool IsCpuIsa(absl::string_view isa) {
  return absl::c_linear_search(CpuIsas(), isa);
}

// "sm_90", or "sm_90a" with features of that architecture only.
bool IsCudaIsa(absl::string_view isa) {
  if (!absl::ConsumePrefix(&isa, "sm_")) return false;
  if (!absl::ConsumeSuffix(&isa, "a")) absl::ConsumeSuffix(&isa, "f");
  return (isa.size() == 2 || isa.size() == 3) && isa[0] != '0' &&
         absl::c_all_of(isa, absl::ascii_isdigit);
}

// "x86-64-avx512", also for "avx512_bf16".
std::string CpuCodeTarget(absl::string_view isa) {
  return absl::StrCat("x86-64-", VectorIsa(MeantIsa(isa)));
}

// A driver compiles PTX for every later architecture.
std::string CudaCodeTarget(absl::string_view isa) {
  int capability = 0;
  const std::string digits(absl::StripSuffix(
      absl::StripSuffix(absl::StripPrefix(isa, "sm_"), "a"), "f"));
  if (!IsCudaIsa(isa) || !absl::SimpleAtoi(digits, &capability)) return "";
  return capability >= 90 ? "sm_90" : capability >= 80 ? "sm_80" : "";
}

// By DeviceKind.
constexpr DeviceKindTraits kKinds[] = {
    {.name = "cpu",
     .shares_host = true,
     .kernel_code = KernelCode::kHost,
     .code_target = CpuCodeTarget,
     .collectives_beside_kernels = false,
     .ports_beside_kernels = false,
     .overlaps_steps = true,
     // Nearly all x86-64 processors have avx2. The default of a file does not
     // depend on the host.
     .isa = {.accepts = IsCpuIsa, .names = CpuIsas, .usual = "avx2"}},
    {.name = "cuda",
     .shares_host = false,
     .kernel_code = KernelCode::kPtx,
     .code_target = CudaCodeTarget,
     .collectives_beside_kernels = true,
     .ports_beside_kernels = true,
     .overlaps_steps = false,
     .isa = {.accepts = IsCudaIsa,
             .names = nullptr,
             .form = "sm_ and the compute capability, like \"sm_90\""}},
};
static_assert(std::size(kKinds) == kNumDeviceKinds);

}  // namespace

const DeviceKindTraits& TraitsOf(DeviceKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

bool RunsHostCode(const DeviceTraits& device) {
  return TraitsOf(device.kind).kernel_code == KernelCode::kHost;
}

std::string CodeTargetOf(const DeviceTraits& device) {
  return TraitsOf(device.kind).code_target(device.isa);
}

}  // namespace partita
