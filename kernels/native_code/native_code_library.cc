// Splits ranges of elements over threads.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/native_code/native_code_library.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/host_capacity.h"
#include "graph/in_place.h"
#include "graph/status_macros.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/native_code/trusted_code.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

constexpr char kKernel[] = "codegen.elementwise";
constexpr char kInterpreted[] = "codegen.elementwise.interpreted";
// With fewer elements a thread costs more than it saves.
constexpr int64_t kElementsPerThread = 8192;
// Threads start at multiples of a cache line of the smallest elements.
constexpr int64_t kGrain = 64;

class CompiledKernel : public Kernel {
 public:
  CompiledKernel(ElementwiseEntry entry, int64_t elements, int threads)
      : entry_(entry), elements_(elements) {
    const int64_t most = std::max<int64_t>(1, elements / kElementsPerThread);
    threads_ = static_cast<int>(std::clamp<int64_t>(threads, 1, most));
    share_ = (elements / threads_ + kGrain) / kGrain * kGrain;
  }

  absl::Status Launch(const LaunchArgs& args) override {
    if (elements_ == 0) return absl::OkStatus();
    ParallelFor(threads_, threads_, [&](int64_t thread) {
      const int64_t begin = std::min(elements_, thread * share_);
      const int64_t end = std::min(elements_, begin + share_);
      entry_(args.operands.data(), args.results.data(), begin, end);
    });
    return absl::OkStatus();
  }

 private:
  const ElementwiseEntry entry_;
  const int64_t elements_;
  int threads_;
  int64_t share_;
};

class InterpretedKernel : public Kernel {
 public:
  InterpretedKernel(ElementwiseProgram program, int64_t elements)
      : program_(std::move(program)),
        elements_(elements),
        registers_(program_.instructions.size()) {}

  absl::Status Launch(const LaunchArgs& args) override {
    Interpret(program_, args.operands.data(), args.results.data(), 0, elements_,
              registers_);
    return absl::OkStatus();
  }

 private:
  const ElementwiseProgram program_;
  const int64_t elements_;
  std::vector<uint64_t> registers_;
};

ElementwiseEntry FindCode(absl::string_view isa, const std::string& name) {
  return FindEntry(CodeTarget(ExecutableIsa(isa)), name);
}

// The interpreter gives the bits of the device's instruction set. So does code,
// unless this processor has no fused multiply-add.
std::string IsaOfBits(const DeviceTraits& device, bool has_code) {
  const std::string executed = ExecutableIsa(device.isa);
  return has_code && executed == "sse4" ? executed : device.isa;
}

}  // namespace

absl::StatusOr<ElementwiseEntry> NativeCodeLibrary::FindOrBuildCode(
    const BindRequest& request, const std::string& name) const {
  const ElementwiseEntry found = FindCode(request.device->isa, name);
  if (found != nullptr || build_ == nullptr) return found;
  DeviceTraits here = *request.device;
  here.isa = ExecutableIsa(here.isa);
  const absl::Status built = build_(request.node, here);
  if (!built.ok() && !absl::IsUnavailable(built)) return built;
  return FindCode(here.isa, name);
}

absl::StatusOr<BoundKernel> NativeCodeLibrary::Bind(
    const BindRequest& request) const {
  if (!KernelId(kKernel).Is(request.binding->kernel) ||
      !RunsHostCode(*request.device) || !IsKnownIsa(request.device->isa)) {
    return absl::UnimplementedError(
        absl::StrCat(request.node.ToString(), ": found kernel ",
                     request.binding->kernel.ToString(), "; expected ", kKernel,
                     " on a cpu"));
  }
  if (request.code != nullptr) {
    PARTITA_RETURN_IF_ERROR(TrustCode(*request.code));
  }
  // Also proves that the function was made for these types.
  PARTITA_ASSIGN_OR_RETURN(ElementwiseProgram program,
                           ReadProgram(request.node, request.device->isa));
  const int64_t elements = request.node.result_type(0).num_elements();
  PARTITA_ASSIGN_OR_RETURN(const ElementwiseEntry entry,
                           FindOrBuildCode(request, program.name));
  BoundKernel bound;
  bound.id = entry != nullptr ? kKernel : kInterpreted;
  bound.arithmetic =
      CodegenArithmetic(IsaOfBits(*request.device, entry != nullptr));
  bound.in_place = ElementwiseInPlace(request.node);
  // In another order elements would be overwritten before they are read.
  std::erase_if(bound.in_place, [&](const InPlacePair& pair) {
    return request.node.operand_type(pair.operand).layout !=
           request.node.result_type(pair.result).layout;
  });
  if (entry != nullptr) {
    bound.kernel = std::make_unique<CompiledKernel>(entry, elements,
                                                    request.device->threads);
  } else {
    bound.kernel =
        std::make_unique<InterpretedKernel>(std::move(program), elements);
  }
  return bound;
}

bool HasCode(const OpView& node, const DeviceTraits& device) {
  return FindCode(device.isa, EntryName(node)) != nullptr;
}

// Programs are the same for all instruction sets with fused multiply-add
// (read_program.h).
std::string ExecutableIsa(absl::string_view isa) {
  const std::vector<std::string> known = CpuIsas();
  const std::string meant = MeantIsa(isa);
  for (auto less = absl::c_find(known, meant); less != known.end(); ++less) {
    if (ProcessorRuns(CodeTarget(*less))) return *less;
  }
  return meant;
}

}  // namespace partita
