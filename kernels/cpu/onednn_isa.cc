// One table.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/onednn_isa.h"

#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/host_capacity.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {
namespace {

// What oneDNN may use, and the device's name for it. Levels with VNNI differ
// only in int8, which does not matter here.
struct Step {
  dnnl::cpu_isa found;
  const char* isa;
  const char* onednn;  // oneDNN's name for the limit
  // instructions that determine the bits of f32, and of bf16
  const char* floats;
  const char* bf16;
};
constexpr Step kSteps[] = {
    {dnnl::cpu_isa::avx512_core_amx, "avx512_amx", "AVX512_CORE_AMX",
     "avx512_core", "avx512_core_amx"},
    {dnnl::cpu_isa::avx512_core_bf16, "avx512_bf16", "AVX512_CORE_BF16",
     "avx512_core", "avx512_core_bf16"},
    {dnnl::cpu_isa::avx512_core, "avx512", "AVX512_CORE", "avx512_core",
     "avx512_core"},
    {dnnl::cpu_isa::avx512_core_vnni, "avx512", "AVX512_CORE", "avx512_core",
     "avx512_core"},
    {dnnl::cpu_isa::avx2, "avx2", "AVX2", "avx2", "avx2"},
    {dnnl::cpu_isa::avx2_vnni, "avx2", "AVX2", "avx2", "avx2"},
    {dnnl::cpu_isa::avx, "", "AVX", "avx", "avx"},
    {dnnl::cpu_isa::sse41, "sse4", "SSE41", "sse41", "sse41"},
    {dnnl::cpu_isa::all, "", "ALL", "other", "other"},
};

// True if oneDNN accepted the limit. Other settings of its environment would
// change its kernels, or the meaning of f32, unknown to the plan.
bool SetCap() {
  dnnl::set_cpu_isa_hints(dnnl::cpu_isa_hints::no_hints);
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::strict);
  const std::vector<std::string> usable = UsableIsas();
  for (const Step& step : kSteps) {
    if (usable.empty() || step.isa != usable.front()) continue;
    return dnnl::set_max_cpu_isa(step.found) == dnnl::status::success;
  }
  return false;
}

const Step& StepOfOnednn() {
  CapOnednn();
  static const Step& step = []() -> const Step& {
    const dnnl::cpu_isa found = dnnl::get_effective_cpu_isa();
    for (const Step& known : kSteps) {
      if (known.found == found) return known;
    }
    return *(std::end(kSteps) - 1);
  }();
  return step;
}

}  // namespace

void CapOnednn() { [[maybe_unused]] static const bool is_set = SetCap(); }

absl::string_view IsaOfOnednn() { return StepOfOnednn().isa; }

absl::string_view OnednnNameOf(absl::string_view isa) {
  for (const Step& step : kSteps) {
    if (!isa.empty() && step.isa == isa) return step.onednn;
  }
  return "";
}

std::string OnednnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return absl::StrCat(version->major, ".", version->minor, ".", version->patch);
}

absl::string_view InstructionsOf(bool of_bf16) {
  return of_bf16 ? StepOfOnednn().bf16 : StepOfOnednn().floats;
}

}  // namespace partita
